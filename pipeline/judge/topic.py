"""What a sentence of a judgement is about, for code that has to know: sentences are for people."""

from __future__ import annotations

from enum import StrEnum


class Topic(StrEnum):
    """Subjects of findings that other texts may tell, too."""

    THROUGHPUT = "throughput"
    ICACHE = "icache"
    MARGINS = "margins"
    SELF_CHECK = "self-check"
    HEALTH = "health"
    STDERR = "stderr"
    VERSIONS = "versions"
    WORKLOAD = "workload"


KEYS = (Topic.THROUGHPUT, Topic.ICACHE)
