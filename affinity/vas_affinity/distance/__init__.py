"""How far apart CPUs are, by the papers' ratio table or as measured."""

from vas_affinity.distance.matrix import Distances
from vas_affinity.distance.ratio import RATIO, Ratio, ratio_distances

__all__ = ["RATIO", "Distances", "Ratio", "ratio_distances"]
