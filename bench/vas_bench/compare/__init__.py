"""Two files of results, experiment by experiment."""
