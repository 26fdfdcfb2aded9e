"""Applies a placement to this host, compares the host with it, and rolls it back."""
