"""Figures of recordings and of hosts: SVG, PNG and HTML."""
