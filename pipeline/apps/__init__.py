"""Real programs run plainly and with the library preloaded: ``pipeline test --apps``."""
