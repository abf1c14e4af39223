"""From a checked profile to libraries that are compiled without a profile."""
