"""Measures how fast a machine's own disk is, in one bounded file."""
