"""The PM-to-VM map: the one description of a site."""
