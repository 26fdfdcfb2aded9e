"""Compares two files of results, experiment by experiment."""
