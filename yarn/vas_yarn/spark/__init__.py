"""Spark on the queue: its properties, its submission, and where its tasks ran."""
