"""Holds the stand-in for Lustre: a metadata server, a preloaded library, `lfs` and `lctl`."""
