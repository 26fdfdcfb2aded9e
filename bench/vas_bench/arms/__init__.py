"""The same job in several arms, in rounds."""
