"""Computes the score of a placement of threads. Pure, over plain arrays."""

from vas_affinity.search.score.problem import PlacementProblem
from vas_affinity.search.score.terms import Terms, score, terms
from vas_affinity.search.score.weights import WEIGHTS, Weights

__all__ = ["WEIGHTS", "PlacementProblem", "Terms", "Weights", "score", "terms"]
