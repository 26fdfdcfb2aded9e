"""A job submitted with a profile's properties."""
