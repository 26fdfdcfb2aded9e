"""Chooses the pairs of CPUs to measure: all of a small machine, some of each kind of a large."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from vas_affinity.machine.distance import Distances


def pairs_to_measure(distances: Distances, most: int, seed: int = 0) -> list[tuple[int, int]]:
    """Returns about `most` pairs of CPUs, ascending, as many of each class of equal distance.

    Every class is represented by at least one pair.
    """
    pairs = list(combinations(distances.cpus, 2))
    if len(pairs) <= most:
        return pairs
    classes: dict[float, list[tuple[int, int]]] = {}
    for a, b in pairs:
        far = float(distances.between[distances.index[a], distances.index[b]])
        classes.setdefault(far, []).append((a, b))
    random = np.random.default_rng(seed)
    chosen: list[tuple[int, int]] = []
    for left, far in zip(
        range(len(classes), 0, -1), sorted(classes, key=lambda far: len(classes[far])), strict=True
    ):
        here = classes[far]
        size = min(len(here), max(1, (most - len(chosen)) // left))
        chosen += [here[at] for at in random.choice(len(here), size=size, replace=False)]
    return sorted(chosen)
