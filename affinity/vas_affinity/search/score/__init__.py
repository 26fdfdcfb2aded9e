"""Computes the score of a placement of threads. Pure, over plain arrays."""

from vas_affinity.search.score.problem import PlacementProblem
from vas_affinity.search.score.terms import Terms, score, terms
from vas_affinity.search.score.weights import ASSUMED, WEIGHTS, Assumed, Weights

__all__ = [
    "ASSUMED",
    "WEIGHTS",
    "Assumed",
    "PlacementProblem",
    "Terms",
    "Weights",
    "score",
    "terms",
]
