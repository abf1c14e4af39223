"""The stage tune: the geometry of the allocator, chosen by measuring."""
