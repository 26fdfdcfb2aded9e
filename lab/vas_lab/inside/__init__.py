"""Holds the programs that run inside a lab's namespaces: its supervisor and the job runner."""
