"""A machine of 16 CPUs and two NUMA nodes, whose disk and NIC are on the second."""
