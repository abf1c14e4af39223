"""Tuning: the geometry of the allocator chosen for a workload, by models and by measuring."""
