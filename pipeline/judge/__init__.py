"""The judge: whether the tuned library is better than the baseline, and may be published.

``judge(request, progress)`` measures and returns a :class:`VerifyResult`. Throughput,
I-cache and memory are keys with a verdict each; a guard looks at memory, too; health checks are a
condition.
docs/verdicts.md says what every combination means.
"""

from pipeline.judge.judging import judge
from pipeline.judge.model import Health, HealthCheck, Key, Keys, VerifyResult
from pipeline.judge.request import (
    MIN_PAIRS,
    BenchCommand,
    CacheGeometry,
    HealthCommand,
    JudgeRequest,
    Margins,
    Tools,
)
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

__all__ = [
    "MIN_PAIRS",
    "BenchCommand",
    "CacheGeometry",
    "Health",
    "HealthCheck",
    "HealthCommand",
    "Interval",
    "JudgeRequest",
    "Key",
    "Keys",
    "Margins",
    "Tools",
    "Verdict",
    "VerifyResult",
    "judge",
]
