"""The same job in several arms, in turns."""
