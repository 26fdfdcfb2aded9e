"""The results behind docs/evidence/alltoallv.md: commands, and what they printed.

The file of results has a line of JSON for each command: the command, and the document that it
printed. The points of `vas a2av grid` are a file that this command adds to by itself.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from vas_a2av.building import SOURCES
from vas_a2av.grid_points import GridPoint, read_points
from vas_core.cli import run_command
from vas_core.errors import BadInput, VasError
from vas_core.reading import read_limited

RESULTS = SOURCES / "results" / "bench-torus.jsonl"
GRID = SOURCES / "results" / "grid-torus.jsonl"
GRID_OF_NODES = SOURCES / "results" / "grid-nodes.jsonl"
SIZES = (8, 64, 256, 1024)
LARGE_SIZES = (2048, 4096, 16384, 65536)
RADICES = (2, 4, 8, 16, 32, 64, 128)
MANY = 16384
_MOST_BYTES = 16 << 20


def _command(ranks: int, size: int, algorithm: str, radix: int = 2) -> str:
    return (
        f"vas a2av bench --ranks {ranks} --size {size} --calls 1 --algorithm {algorithm} "
        f"--radix {radix} --json"
    )


def commands() -> Iterator[str]:
    """Yields the command of each result, the quickest first.

    With radix 2 TuNA is two-phase, so only that is run.
    """
    yield _command(MANY, 8, "linear")
    for size in SIZES:
        yield from (_command(128, size, name) for name in ("two-phase", "sloav2", "sloav"))
    for radix, size, name in product(RADICES[1:4], SIZES, ("tuna", "sloav2")):
        yield _command(128, size, name, radix)
    for size, name in product((8, 64), ("two-phase", "sloav2")):
        yield _command(512, size, name)
    for radix, size, name in product(RADICES[4:], SIZES, ("tuna", "sloav2")):
        yield _command(128, size, name, radix)
    for ranks, size, name in product((1024, 2048, 4096), (8, 64), ("two-phase", "sloav2")):
        yield _command(ranks, size, name)
    for ranks, size in (*product((512, 1024), (8, 64)), (2048, 8), (4096, 8)):
        yield _command(ranks, size, "sloav2", 8)
    for size in LARGE_SIZES:
        yield from (_command(128, size, "sloav2", radix) for radix in RADICES[:2])
        yield from (_command(128, size, "tuna", radix) for radix in RADICES[:1:-1])
    for name, radix in (("sloav2", 8), ("sloav2", 2), ("sloav", 2), ("two-phase", 2)):
        yield _command(MANY, 8, name, radix)


@dataclass(frozen=True)
class BenchResult:
    """One algorithm's cost, as `vas a2av bench` printed it: seconds of a call, messages of rank 0.

    `computed`: by the model, not simulated.
    """

    command: str
    ranks: int
    size: int
    algorithm: str
    radix: int
    seconds: float
    messages: int
    computed: bool


def load(path: Path = RESULTS) -> list[BenchResult]:
    """Returns the results of a file, in its order. Raises BadInput for a line that is not one."""
    lines = read_limited(path, _MOST_BYTES).decode(errors="replace").splitlines()
    return [_parsed(line, f"{path}: line {number}") for number, line in enumerate(lines, 1)]


def grid_points(path: Path = GRID) -> list[GridPoint]:
    """Returns the points of a grid that were simulated. Raises BadInput for a damaged line."""
    return read_points(path)


def measure(path: Path = RESULTS) -> None:
    """Runs each command that the file has no result of, and adds what it prints.

    Raises VasError when a command fails, BadInput for a damaged file, OSError if it cannot be
    written.
    """
    with path.open("a", encoding="utf-8"):
        pass
    known = {each.command for each in load(path)}
    for command in commands():
        if command in known:
            continue
        line = json.dumps({"command": command, "printed": _printed(command)})
        with path.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def _printed(command: str) -> Any:
    with redirect_stdout(io.StringIO()) as out:
        status = run_command(command.split()[1:])
    if status:
        raise VasError(f"ended with status {status}", where=command)
    return json.loads(out.getvalue())


def _parsed(line: str, where: str) -> BenchResult:
    try:
        document: dict[str, Any] = json.loads(line)
        printed = document["printed"]
        (cost,) = printed["costs"]
        kept = {each: cost[each] for each in BenchResult.__dataclass_fields__ if each in cost}
        return BenchResult(command=document["command"], ranks=printed["ranks"], **kept)
    except (ValueError, KeyError, TypeError):
        hint = "remove the line, then run `python -m vas_a2av.tables --measure`"
        raise BadInput("is not a result of `vas a2av bench`", where=where, hint=hint) from None
