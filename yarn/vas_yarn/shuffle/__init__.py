"""Map output on Lustre, seen from outside: manifests, their sizes and damage, and what is left."""
