"""Profiles: what a build is trained on and judged by."""
