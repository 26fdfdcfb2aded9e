"""Looking into an image that does not run."""
