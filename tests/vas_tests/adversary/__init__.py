"""Attacks from outside, by public commands only."""
