"""Compiled by a profile: counted, merged, compiled again (PGO)."""
