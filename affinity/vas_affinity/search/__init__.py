"""Finding a placement of a low score."""

from vas_affinity.search.find import Effort, Found, find

__all__ = ["Effort", "Found", "find"]
