"""One report of many runs: a page, its figures, and a table for a README."""
