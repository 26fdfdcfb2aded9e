"""The matrices that a score takes: CPU x CPU, and CPU x NUMA node."""

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
    """Relative distances, 1 the nearest; `source` says where they are from.

    `between` is symmetric, a row and a column for each of `cpus`; `memory` has a row for each of
    `cpus` and a column for each of `nodes`: from a CPU to that node's memory.
    """

    cpus: tuple[int, ...]
    between: Floats
    nodes: tuple[int, ...]
    memory: Floats
    source: str

    @cached_property
    def index(self) -> dict[int, int]:
        """A CPU's row."""
        return {cpu: row for row, cpu in enumerate(self.cpus)}

    def rows(self, cpus: Sequence[int]) -> list[int]:
        """The rows of those CPUs that are here: an offline one has none."""
        return [self.index[cpu] for cpu in cpus if cpu in self.index]

    def only(self, cpus: Sequence[int]) -> Distances:
        """The same for some of the CPUs."""
        kept = tuple(cpu for cpu in self.cpus if cpu in set(cpus))
        rows = self.rows(kept)
        between = self.between[np.ix_(rows, rows)]
        return Distances(kept, between, self.nodes, self.memory[rows], self.source)
