"""The commands that make and explain plans, and write them for other programs."""
