"""Laid out by edge counts: BOLT."""
