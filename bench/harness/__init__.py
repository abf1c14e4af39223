"""Runs the benchmark programs with different allocators and compares what they cost."""
