"""Hadoop in a lab: the configuration and the command lines of its daemons."""
