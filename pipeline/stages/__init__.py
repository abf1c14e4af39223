"""The stages of a build, one module each. No stage knows which one comes next: run.py does."""

# In the order of run.py, for --from and its completion.
NAMES = (
    "baseline",
    "record",
    "instrument",
    "train",
    "merge",
    "pgo",
    "static",
    "bolt-instrument",
    "bolt-train",
    "bolt",
    "slowdown",
    "verify",
    "publish",
)
