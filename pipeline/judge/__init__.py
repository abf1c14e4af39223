"""The judge: whether the tuned library is better than the baseline, and may be published.

``judging.judge(request, progress)`` measures and returns a ``model.VerifyResult``. Throughput,
I-cache and memory are keys with a verdict each; memory limit and health checks are conditions.
docs/verdicts.md says what every combination means.

Nothing is imported here: who needs one of the judge's types would load numpy as well.
"""
