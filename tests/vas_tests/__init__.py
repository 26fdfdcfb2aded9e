"""Shared by the end-to-end tests: labs, hosts, attacks, checks of texts; and `vas test`."""
