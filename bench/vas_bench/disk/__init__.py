"""How fast a machine's own disk is, measured in one bounded file."""
