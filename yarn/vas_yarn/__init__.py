"""What the plugins did, asked from outside: YARN's REST interfaces and the placement log."""
