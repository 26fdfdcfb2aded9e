"""`vas demo`: one job in four ways, and a report of it."""
