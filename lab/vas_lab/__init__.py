"""A whole site on one machine: namespaces as hosts, real YARN, an `lfs` stand-in."""
