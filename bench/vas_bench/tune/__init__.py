"""`vas bench tune`: looks for a faster configuration, and recommends only what is significant."""
