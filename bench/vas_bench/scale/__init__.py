"""Simulates the copy of map output on clusters larger than the lab."""
