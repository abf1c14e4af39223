"""Stages of PGO: compiled with counters, trained, merged, compiled again by the counts."""
