"""A machine: its CPUs, memory, devices and threads, read or captured, and CPU distances."""
