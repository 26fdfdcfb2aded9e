"""The programs that run inside a lab's namespaces: its supervisor and the runner of jobs."""
