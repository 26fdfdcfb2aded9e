"""The cost of analytics next to a storage service: alone, on the host, in a guest."""
