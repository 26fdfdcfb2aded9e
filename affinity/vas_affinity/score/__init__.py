"""What a placement of threads costs: pure, over plain arrays."""

from vas_affinity.score.problem import Problem
from vas_affinity.score.terms import Terms, score, terms
from vas_affinity.score.weights import WEIGHTS, Weights

__all__ = ["WEIGHTS", "Problem", "Terms", "Weights", "score", "terms"]
