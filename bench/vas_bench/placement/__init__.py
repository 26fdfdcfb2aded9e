"""The placement of a large job, simulated."""
