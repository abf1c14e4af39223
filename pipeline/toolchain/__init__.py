"""The tools that make and inspect binaries: where they are, how they are called, and why so."""
