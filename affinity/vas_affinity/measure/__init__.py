"""How long a cache line takes from one CPU to another, measured on this machine."""
