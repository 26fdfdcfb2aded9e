"""Inspects an image that does not run."""
