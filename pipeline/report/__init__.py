"""Reports: one model of what was built and judged, and thin renderers of it."""
