"""The tables of size classes and policies, chosen by measuring."""
