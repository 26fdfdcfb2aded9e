"""`vas bench run`: a plan of workloads on systems, in turns, into a file of results."""
