"""Profiles from elsewhere: counts that instrumented processes wrote, and samples of perf."""
