"""Measures where two service threads should run: the pair table of the core affinity slides."""
