"""Tests whether pinning pays here: two factors, runs in turns, mean and variance compared."""
