"""Boots an image without a network, and judges its report on itself."""
