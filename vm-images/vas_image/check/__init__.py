"""Booting an image without a network, and its verdict on itself."""
