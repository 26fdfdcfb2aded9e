"""What the playbooks decide, in plain Python: the inventory, and what is wrong before a change."""
