"""Decisions of the playbooks in plain Python: inventory, checks, configuration, verification."""
