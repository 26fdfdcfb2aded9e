"""Results of benchmark runs: one line of JSON each, in a file that only grows."""
