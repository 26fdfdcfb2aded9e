"""`vas demo`: one job in several ways, and a report of it."""
