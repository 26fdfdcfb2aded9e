"""Finds a placement of threads with a low score."""

from vas_affinity.search.find import Effort, SearchResult, find

__all__ = ["Effort", "SearchResult", "find"]
