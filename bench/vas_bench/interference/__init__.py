"""What analytics beside a storage service costs that service: alone, on the host, in a guest."""
