"""Submits a job with the properties of a profile."""
