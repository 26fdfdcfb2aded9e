"""Distances between CPUs, by the papers' ratio table or as measured."""

from vas_affinity.machine.distance.matrix import Distances
from vas_affinity.machine.distance.ratio import RATIO, RatioTable, ratio_distances

__all__ = ["RATIO", "Distances", "RatioTable", "ratio_distances"]
