"""Proposals from the statistics of programs in production, and the judge's word on each."""
