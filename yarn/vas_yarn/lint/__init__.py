"""Finds contradictions in the configuration of a MapReduce job, and traps in its code."""
