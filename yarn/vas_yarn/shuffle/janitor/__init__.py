"""Removes map output below the staging root that applications left, some time after their end."""
