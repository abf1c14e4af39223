"""Heap profiles: what a program holds, by the calls that asked for it."""
