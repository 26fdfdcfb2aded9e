"""Does pinning pay here? Two factors, runs in rounds, mean and variance tested."""
