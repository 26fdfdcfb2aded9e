"""What each YARN application reads and writes, as a server of Lustre counts it (jobstats)."""
