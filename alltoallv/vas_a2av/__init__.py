"""All-to-all of unequal blocks for MPI programs: builds, checks and simulates the C library."""
