"""The stages of a build, one module each. No stage knows which one comes next: run.py does."""

# In the order of run.py, for --from and its completion.
NAMES = (
    "baseline",
    "record",
    "geometry",
    "instrument",
    "train",
    "merge",
    "pgo",
    "static",
    "context-instrument",
    "context-train",
    "context-merge",
    "context",
    "bolt-instrument",
    "bolt-train",
    "bolt",
    "sections",
    "pgo-only",
    "ablation",
    "finish",
    "slowdown",
    "verify",
    "layout-null",
    "cost",
    "publish",
)
