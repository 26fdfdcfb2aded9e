"""Shortens the start of JVMs by AppCDS: tasks map their classes from one archive."""
