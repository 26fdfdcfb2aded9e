"""Makes a guest's domain and seed from the map, and compares them with those on its host."""
