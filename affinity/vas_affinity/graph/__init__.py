"""Which threads talk to which: wake-ups counted in the kernel, and the channels they share."""
