"""Finds which threads talk to which: by wake-ups counted in the kernel, and shared channels."""
