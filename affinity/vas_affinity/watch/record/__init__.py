"""Records which core each thread ran on over time: sampled from /proc, kept as JSON lines."""
