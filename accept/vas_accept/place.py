"""Holds the directory of Lustre in which checks are made, and runs programs for them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vas_accept.outcome import DeadlinePassed, NotApplicable
from vas_cluster import Cluster
from vas_core.errors import NotHere, VasError
from vas_core.process import CommandFailed, Completed, run
from vas_core.root import Root
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.store import LayoutReader

_OST = re.compile(r"(\d+): (\S+)-OST[0-9a-f]{4}_UUID ACTIVE")
# What one program may take, and all of them together.
_MOST_SECONDS = 300.0
# The status of a program that was stopped at its time-out.
_STOPPED = -1
# Not those of a MDT on the same machine.
ANY_INSTANCE = "[!M]*"


@dataclass(frozen=True, kw_only=True)
class AcceptanceOptions:
    """The operator's options besides the mount. A check whose option is missing is not
    applicable."""

    cluster: Cluster | None = None
    cluster_file: Path | None = None
    pool: str | None = None
    small_pool: str | None = None
    quota_directory: Path | None = None
    failover: bool = False
    failover_seconds: float = 600.0
    hsm: bool = False
    jobs: bool = False


@dataclass(frozen=True, kw_only=True)
class AcceptancePlace:
    """A directory on Lustre for the checks alone. All must end by `deadline` (time.monotonic)."""

    directory: Path
    options: AcceptanceOptions = field(default_factory=AcceptanceOptions)
    root: Root = field(default_factory=Root)
    deadline: float = field(default_factory=lambda: time.monotonic() + 900)
    lfs: Lfs = field(default_factory=Lfs)

    def own(self, name: str) -> Path:
        """Makes a directory for one check, and returns its path. Raises OSError if it exists."""
        made = self.directory / name
        made.mkdir()
        return made

    def seconds_left(self) -> float:
        """Returns how long a program may run now, in seconds. Raises DeadlinePassed if no time is
        left."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        return min(left, _MOST_SECONDS)

    def run(
        self, argv: Sequence[str | Path], *, check: bool = True, seconds: float | None = None
    ) -> Completed:
        """Runs a program and returns its output. It ends by the deadline, or after `seconds`.

        Raises NotApplicable if it is not installed, DeadlinePassed if no time is left or it was
        stopped at the deadline, VasError if it fails.
        """
        try:
            return run(argv, check=check, timeout_seconds=seconds or self.seconds_left())
        except NotHere as missing:
            raise NotApplicable(f"{missing.what}") from missing
        except CommandFailed as failed:
            if failed.completed.status == _STOPPED:
                self.seconds_left()
            raise

    def vas(self, *words: str | Path, check: bool = True) -> Completed:
        """Runs a command of VAS, as a user of this mount does. Raises as `run` does."""
        return self.run([*VAS, *words], check=check)

    @cached_property
    def _osts(self) -> tuple[str, tuple[int, ...]]:
        # The report needs the name also when the time is over; and without `lfs` there is none.
        try:
            said = self.run(
                [self.lfs.program, "osts", self.directory], seconds=_MOST_SECONDS
            ).stdout
        except NotApplicable as missing:
            raise NotHere(str(missing), hint="make the checks on a client of Lustre") from missing
        found = [_OST.match(line) for line in said.splitlines()]
        known = [match for match in found if match]
        if not known:
            raise VasError("no active OST", where=f"lfs osts {self.directory}")
        return known[0][2], tuple(int(match[1]) for match in known)

    @property
    def fsname(self) -> str:
        """The file system's name, by `lfs osts`. Raises NotHere without `lfs`, VasError if it
        fails."""
        return self._osts[0]

    @property
    def osts(self) -> tuple[int, ...]:
        """The indices of the active OSTs, by `lfs osts`. Raises as `fsname` does."""
        return self._osts[1]

    @property
    def cluster(self) -> Cluster:
        """The map of the site. Raises NotApplicable if there is none, or one of another file
        system; else as `fsname` does."""
        cluster = self.options.cluster
        if cluster is None:
            raise NotApplicable("no map of the site is known: --cluster FILE")
        if cluster.lustre.fsname != self.fsname:
            other = cluster.lustre.fsname
            raise NotApplicable(f"the map is of {other}, and this is {self.fsname}: --cluster FILE")
        return cluster

    @cached_property
    def pool(self) -> str:
        """The pool to make files in: the one given, else the first.

        Raises NotApplicable if the file system has none, VasError if `lfs` is missing or fails.
        """
        pools = [self.options.pool] if self.options.pool else self.lfs.pools(self.directory)
        if not pools:
            raise NotApplicable("the file system has no pool of OSTs")
        return pools[0]

    @cached_property
    def instance(self) -> str:
        """This mount's client instance in sysfs' names; a pattern of all if `lfs` tells none."""
        try:
            return self.lfs.instance(self.mount) or ANY_INSTANCE
        except VasError:
            return ANY_INSTANCE

    @cached_property
    def mount(self) -> Path:
        """The highest directory on Lustre that the checks' directory lies in."""
        path = self.directory.resolve()
        while path != path.parent and _is_lustre(path.parent):
            path = path.parent
        return path


def _is_lustre(path: Path) -> bool:
    try:
        LayoutReader().refuse_other_file_systems(path)
    except LayoutUnavailableError:
        return False
    return True


VAS = (sys.executable, "-P", "-m", "vas_core")
