"""Counting what a library executes: hardware counters, simulation, or nothing (and saying so)."""
