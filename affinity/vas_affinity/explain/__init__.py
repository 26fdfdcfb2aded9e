"""`vas affinity explain`: a plan's score by thread and term, beside today's."""
