"""Measures the search on this machine at each call; keeps nothing from an earlier run."""
