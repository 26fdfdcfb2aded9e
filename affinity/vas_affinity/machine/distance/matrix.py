"""The distance matrices that a score uses: CPU x CPU, and CPU x NUMA node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Distances:
    """Relative distances, 1 for the nearest; `source` says where they come from.

    `between` is symmetric, with a row and a column for each of `cpus`; `memory` has a row for each
    of `cpus` and a column for each of `nodes`: from a CPU to that node's memory.
    """

    cpus: tuple[int, ...]
    between: Floats
    nodes: tuple[int, ...]
    memory: Floats
    source: str

    @cached_property
    def index(self) -> dict[int, int]:
        """Returns CPU number -> its row."""
        return {cpu: row for row, cpu in enumerate(self.cpus)}

    def rows(self, cpus: Sequence[int]) -> list[int]:
        """Returns the rows of these CPUs; a CPU that is offline has none."""
        return [self.index[cpu] for cpu in cpus if cpu in self.index]

    def only(self, cpus: Sequence[int]) -> Distances:
        """Returns the distances of these CPUs only."""
        kept = tuple(cpu for cpu in self.cpus if cpu in set(cpus))
        rows = self.rows(kept)
        between = self.between[np.ix_(rows, rows)]
        return Distances(kept, between, self.nodes, self.memory[rows], self.source)
