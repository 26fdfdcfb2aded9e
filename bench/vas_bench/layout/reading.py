"""Measures layouts read per second: by the attribute, and by one `lfs` process per file."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vas_bench.statistics.summary import Summary, summary
from vas_core.errors import BadInput, NotHere
from vas_layout.lfs import Lfs
from vas_layout.paths import files_below
from vas_layout.store import XattrStore


@dataclass(frozen=True)
class LayoutRates:
    """Layouts read per second in each of two ways, `xattr` and `lfs`."""

    files: int
    rates: Mapping[str, Summary]

    @property
    def ratio(self) -> float:
        """The median rate by attribute over that by `lfs`."""
        return self.rates["xattr"].median / self.rates["lfs"].median


def alternate(
    ways: Mapping[str, Callable[[], int]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Summary]:
    """Returns the rates of every way: things a second, over all rounds.

    Each way runs once per round, in alternating order, after one round unmeasured; it returns how
    many things it did. Alternating spreads a disturbance over all.
    """
    for way in ways.values():
        way()
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways)[:: 1 if number % 2 == 0 else -1]
        for name in names:
            started = clock()
            count = ways[name]()
            rates[name].append(count / (clock() - started))
    return {name: summary(found) for name, found in rates.items()}


def measure(
    files: Sequence[Path],
    *,
    rounds: int,
    store: XattrStore | None = None,
    lfs: Lfs | None = None,
) -> LayoutRates:
    """Reads the layouts of the same files both ways, in rounds. Raises VasError if one fails."""
    one, other = store or XattrStore(), lfs or Lfs()

    def by_xattr() -> int:
        return len([one.read(path) for path in files])

    def by_lfs() -> int:
        return len([other.getstripe(path) for path in files])

    return LayoutRates(len(files), alternate({"xattr": by_xattr, "lfs": by_lfs}, rounds=rounds))


def files_of(directory: Path, count: int) -> list[Path]:
    """Returns the first files below a directory. Raises BadInput if there are none."""
    found = list(islice(files_below(directory), count))
    if not found:
        raise BadInput("holds no files", where=str(directory))
    return found


@contextmanager
def made_files(mount: Path, count: int) -> Iterator[list[Path]]:
    """Yields empty files in a directory of their own on a mount, and removes them at the end.

    Raises NotHere where the mount is not there.
    """
    if not mount.is_dir():
        raise NotHere(
            "is not there", where=str(mount), hint="mount Lustre, or give a directory with --dir"
        )
    directory = Path(tempfile.mkdtemp(prefix=".vas-bench-", dir=mount))
    try:
        paths = [directory / f"f{number}" for number in range(count)]
        for path in paths:
            path.touch()
        yield paths
    finally:
        shutil.rmtree(directory)
