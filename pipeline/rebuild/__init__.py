"""Building a version again from its bundle: no training, and the same bytes."""
