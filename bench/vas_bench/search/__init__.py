"""What the search does on this machine: measured at the call."""
