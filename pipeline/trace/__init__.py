"""Traces: recording what a program allocates, and reading it. docs/recording.md is for users."""
