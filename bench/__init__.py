"""Benchmark programs and the scripts that run them."""
