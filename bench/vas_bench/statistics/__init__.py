"""Samples, ratios and whether they are chance: pure, the statistics are scipy's."""
