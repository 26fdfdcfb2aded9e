"""Which vCPU, I/O thread and interrupt on which core: a snapshot, a scored plan, thin edges."""
