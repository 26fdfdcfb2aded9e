"""Points of `vas a2av grid`: the library's choice against MPI's own, and the file they are in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vas_a2av.simulation import SimulatedCase, simulate
from vas_core.errors import BadInput
from vas_core.reading import read_limited

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class GridPoint:
    """A call by the library's choice, against MPI's own: `ratio` of their simulated seconds.

    `used`: what the library decided on. The ratio has the calls by which it decided, and all calls
    until it decides again.
    """

    platform: str
    node_ranks: int
    ranks: int
    size: int
    distribution: str
    used: str
    radix: int
    own_seconds: float
    ratio: float

    @property
    def place(self) -> tuple[str, int, int, int, str]:
        """The values by which a point is found again in a file."""
        return self.platform, self.node_ranks, self.ranks, self.size, self.distribution


class PointFile:
    """A file of points, a line of JSON each: a run that was interrupted goes on with it."""

    def __init__(self, path: Path) -> None:
        """Opens the file, and makes it where there is none.

        Raises BadInput for a line that is not a point, OSError if the file cannot be written.
        """
        with path.open("a", encoding="utf-8"):
            pass
        self._path = path
        self._points = {point.place: point for point in read_points(path)}

    def point_of(self, case: SimulatedCase) -> GridPoint:
        """Returns the point of a case: from the file, or simulated and then added to it.

        Raises CommandFailed when a simulation fails, OSError if the file cannot be written.
        """
        place = (case.platform, case.node_ranks, case.ranks, case.size, case.distribution)
        point = self._points.get(place)
        if point is None:
            point = self._points[place] = point_of(case)
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(point)) + "\n")
        return point


def read_points(path: Path) -> list[GridPoint]:
    """Returns the points of a file, in its order. Raises BadInput for a line that is not one."""
    lines = read_limited(path, _MOST_BYTES).decode(errors="replace").splitlines()
    return [_parsed(line, f"{path}: line {number}") for number, line in enumerate(lines, 1)]


def point_of(case: SimulatedCase) -> GridPoint:
    """Simulates a case with the library's choice and with MPI's own; returns its point.

    Raises CommandFailed when a simulation fails.
    """
    chosen = simulate(case, "auto", 2)
    decision = chosen.decision
    if decision is None:
        raise AssertionError("a choice has a decision")
    is_own = chosen.used == "mpi"
    own = chosen.seconds if is_own else simulate(case, "mpi", 2).seconds
    seconds = decision.seconds + decision.left * chosen.seconds
    seconds /= decision.calls + decision.left
    where = (case.platform, case.node_ranks, case.ranks, case.size, case.distribution)
    return GridPoint(*where, chosen.used, chosen.used_radix, own, round(seconds / own, 6))


@cache
def _adapter() -> TypeAdapter[GridPoint]:
    # Only here: it is slow to import.
    from pydantic import ConfigDict, TypeAdapter, with_config

    strict = with_config(ConfigDict(extra="forbid", allow_inf_nan=False, strict=True))
    return TypeAdapter(strict(GridPoint))


def _parsed(line: str, where: str) -> GridPoint:
    try:
        return _adapter().validate_json(line)
    except ValueError:
        hint = "remove the line, and the point is simulated again"
        raise BadInput("is not a point of `vas a2av grid`", where=where, hint=hint) from None
