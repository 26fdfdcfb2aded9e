"""Draws recordings and hosts: as SVG, PNG and HTML, and as text for a terminal."""
