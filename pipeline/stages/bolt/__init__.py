"""Stages with BOLT: the code laid out by edge counts."""
