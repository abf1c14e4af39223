"""Geometry: how the allocator is cut for a profile, as a file that people read and edit."""
