"""Makes distance cost something in a lab: bytes of a stripe cross the lab's network."""
