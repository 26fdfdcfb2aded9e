"""Measures how late new threads are placed, and the CPU time of it."""
