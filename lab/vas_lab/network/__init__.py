"""The network of a lab: a plan of namespaces and links, and the `ip` commands that make it."""
