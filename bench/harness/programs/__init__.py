"""Whole programs, each from its start to its end, with different allocators preloaded."""
