"""Watches threads: which core each runs on, live or recorded, and which threads talk to which."""
