"""The interface of a place where jobs run: a lab or a real site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from vas_cluster import Cluster
from vas_core.process import Completed
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.job import JobResult

OnEvent = Callable[[Event], None]


class PlaceFacts(Protocol):
    """Facts about a place where jobs run: its cluster map, and its directory for temporary
    files."""

    @property
    def cluster(self) -> Cluster:
        """The cluster map of the place."""

    @property
    def temporary(self) -> Path:
        """The directory in which programs in the place may write."""


class JobPlace(Protocol):
    """A running YARN on Lustre. All methods raise VasError when they fail."""

    @property
    def spec(self) -> PlaceFacts:
        """The facts about this place."""

    def refuse_broken(self) -> None:
        """Raises VasError, with the fix, if a part of the place is broken."""

    def call(
        self, argv: Sequence[str], *, node: str | None = None, check: bool = True
    ) -> Completed:
        """Runs a program to its end and returns its output.

        It runs on `node`; None is a machine of the caller's choice where the mount can be read.
        """

    def run_job(
        self,
        argv: Sequence[str],
        conf: Mapping[str, str] | None = None,
        *,
        jars: Sequence[Path] = (),
        on_event: OnEvent = lambda _: None,
    ) -> JobResult:
        """Runs a program of Hadoop to its end and returns its result.

        `argv` is like `terasort IN OUT` (see `vas_yarn.jobs.job.program`). `conf` has properties
        that win over all others, `jars` go to the end of the class path.
        """
