"""Measures how long a cache line takes from one CPU to another on this machine."""
