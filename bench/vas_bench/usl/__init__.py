"""The Universal Scalability Law: fits, what follows from them, and what they hide."""
