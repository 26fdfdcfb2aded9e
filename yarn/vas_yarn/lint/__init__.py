"""Contradictions in the configuration of a MapReduce job."""
