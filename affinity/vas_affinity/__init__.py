"""Places vCPUs, I/O threads and interrupts on cores: a snapshot, a scored plan, thin edges."""
