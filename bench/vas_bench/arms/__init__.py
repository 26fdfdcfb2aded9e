"""Compares systems: one job runs in each arm, in rounds."""
