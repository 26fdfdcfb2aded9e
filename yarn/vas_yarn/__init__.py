"""Submits jobs to YARN and reads what the plugins did: REST interfaces, counters, logs."""
