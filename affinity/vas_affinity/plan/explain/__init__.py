"""Explains a plan's score by thread and term, next to the score of today."""
