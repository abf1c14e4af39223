"""A profile for somebody's own program, as commented TOML."""

from __future__ import annotations

import json
from collections.abc import Sequence

_HEAD = """\
# The profile {name}. Every key is described in docs/pipeline.md.
schema_version = 1
name = {name}
description = {description}

[layout]
name = "mixed"                   # the order of symbols: layouts/mixed/hot.txt and cold.txt
must_be_hot = ["hak_malloc", "hak_free"]       # stop if the training does not run these

# ---- training: what the library is compiled for --------------------------------------------------
# `weight` is the share of time that a workload stands for.
"""

_COMMAND = """\

# The program itself. It starts in the root of this tree (or with scratch = true in an empty folder)
# and has to end by itself; a server needs a script that starts it, asks it something, and stops it.
# A build trains again when a file changes that is a word of `argv`. Programs that a script calls,
# and files that are named elsewhere, belong into `needs`, here and below:
# needs = ["/absolute/path/of/your-server", "/absolute/path/of/query.sql"]
[[workload]]
name = "{name}"
kind = "command"
role = "train"
argv = [{argv}]
weight = 3
timeout_s = 300
"""

_TRACE = """\

# A recording of the program:  .venv/bin/pipeline record -o {file} -- YOUR PROGRAM
[[workload]]
name = "{name}"
kind = "trace"
role = "{role}"
trace = "{file}"
ops = "2M"                       # length of a run; beyond the trace's length it is played again
quick_ops = "500k"               # the same for --quick
{count}weight = 3
"""

_COUNT = """\
count_ops = "200k"               # the same for counting instructions under valgrind
"""

_MIXED = """\

# A little of everything, so that paths which the program did not take are not slow.
[[workload]]
name = "mixed-sizes"
kind = "program"
role = "train"
program = "training/mixed_sizes"
ops = "2M"
quick_ops = "300k"
weight = 0.5

# ---- judging: what the library is measured by; other workloads than in training ----------------
# Throughput and memory are judged by this program alone; loops of bench/ can be added as in
# mixed.toml. The I-cache key is judged by gcc, python3, redis and sqlite3, whatever stands here.
"""

_RECORDED = """\

# The same program, recorded and played back. Better: with another input than in training, so that
# the judgement is not about what the library was compiled for. `first` and `events` choose a part
# of a long run.
[[workload]]
name = "{name}-played"
kind = "trace"
role = "verify"
record = [{argv}]
events = "1M"
ops = "2M"                       # length of a run; beyond the trace's length it is played again
quick_ops = "500k"               # the same for --quick
count_ops = "200k"               # the same for counting instructions under valgrind
weight = 3
timeout_s = 300
"""

_HEALTH = """\

# ---- health: the program must print the same with the library as without ----------------------
# Take another command if its output differs from run to run: without a health check nothing is
# published. Memory goes back to the system after 10 ms here, so that more of the library runs than
# in training. With a `weight` the whole program is timed as well: then give it another input than
# in training, and remove `env`. Both runs of a pair share a CPU if `threads = 1` says that one CPU
# is all it keeps busy; else, or without that, they run in turn. With `counted = true` the library's
# cache misses in the first word of `argv` decide, too, beside those in gcc, python3, redis and
# sqlite3; with `counted = "my-server"` those in that program, which a script of `argv` starts. It is
# 50 to 100 times as slow.
[[workload]]
name = "{name}-health"
kind = "command"
role = "verify"
argv = [{argv}]
env = {{ HAKMEM_PURGE_DELAY = "10" }}
timeout_s = 300
"""

_ANY_HEALTH = """\

# ---- health: a program must print the same with the library as without ------------------------
# Without such a workload nothing is published. Put your own program here, with an input that makes
# it print the same each time:  argv = ["/absolute/path/of/your-program", "--self-test"]
[[workload]]
name = "{name}-health"
kind = "command"
role = "verify"
argv = ["sh", "-c", "seq 200000 | sort -r | sha256sum"]
"""


def render_profile(name: str, command: Sequence[str]) -> str:
    """Return the profile ``name`` for ``command``, or for two recordings where it is empty."""
    if command:
        argv = ", ".join(_text(word) for word in command)
        training = _COMMAND.format(name=name, argv=argv)
        judging = _RECORDED.format(name=name, argv=argv)
        health = _HEALTH.format(name=name, argv=argv)
    else:
        training, judging = _recording(name, "train"), _recording(name, "verify")
        health = _ANY_HEALTH.format(name=name)
    shown = " ".join(command) or "two recordings"
    description = _text(f"Made for: {shown}"[:200])
    head = _HEAD.format(name=_text(name), description=description)
    return head + training + _MIXED + judging + health


def _recording(name: str, role: str) -> str:
    both = f"{name}-{role}"
    count = _COUNT if role == "verify" else ""
    return _TRACE.format(name=both, role=role, file=f"{both}.trace", count=count)


def _text(word: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's, except that DEL must be escaped too."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
