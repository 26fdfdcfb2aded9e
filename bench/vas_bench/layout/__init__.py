"""Measures how many layouts a second each way of reading them gives."""
