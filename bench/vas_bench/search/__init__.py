"""Measures the search for a placement on this machine."""
