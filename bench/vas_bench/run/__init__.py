"""`vas bench run`: a plan of workloads on systems, in rounds, into a file of results."""
