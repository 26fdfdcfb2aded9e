"""Tests whether pinning pays on this machine: two factors, runs in rounds, mean and variance."""
