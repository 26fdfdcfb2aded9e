"""Applications' bytes and requests, as a server of Lustre counts them (jobstats)."""
