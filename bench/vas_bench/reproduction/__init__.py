"""Writes docs/reproduction.md: the papers' claims, joined with results and with other pages."""
