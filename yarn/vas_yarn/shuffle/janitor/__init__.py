"""Removes what applications left below the staging root, once they are over for long."""
