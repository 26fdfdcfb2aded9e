"""Plans the network of a lab (namespaces and links), and makes it by `ip` commands."""
