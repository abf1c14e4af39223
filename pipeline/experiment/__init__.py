"""The ledger of experiments: what was tried, what it was worth, and running it once more."""
