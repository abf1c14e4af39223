"""Libraries that other machines make, each for its own kind of processor."""
