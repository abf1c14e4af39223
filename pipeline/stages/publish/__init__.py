"""A judged build becomes a version, with its report."""
