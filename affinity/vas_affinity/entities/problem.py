"""The problem of placing a host's entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vas_affinity.entities.entity import Entity
from vas_affinity.entities.firing import Firing
from vas_affinity.machine.distance.matrix import Bools, Ints
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.search.score import PlacementProblem


@dataclass(frozen=True, eq=False)
class HostProblem:
    """The problem of placing a host's entities.

    `entities` are the rows of `arrays`; `today` is the present CPU's row of each, -1 if not known;
    `io` tells which do I/O; `notes` say what was assumed.
    """

    snapshot: Snapshot
    entities: tuple[Entity, ...]
    arrays: PlacementProblem
    today: Ints
    firing: Firing
    io: Bools
    notes: tuple[str, ...]

    @property
    def start(self) -> Ints:
        """Returns the placement to search from: the present one.

        An entity whose CPU is not known starts on its cheapest CPU.
        """
        return np.where(self.today < 0, self.arrays.alone.argmin(axis=1), self.today)
