"""Reads the map output of jobs: sizes, damage, and what ended jobs left behind."""
