"""A guest's domain and seed: made from the map, compared with what its host has."""
