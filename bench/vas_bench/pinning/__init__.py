"""Does pinning pay here? Two factors, runs in turns, mean and variance tested."""
