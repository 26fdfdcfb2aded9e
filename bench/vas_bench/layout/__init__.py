"""How many layouts a second either way of reading them gives."""
