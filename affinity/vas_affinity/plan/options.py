"""The options of `plan` and `explain` that say which threads, and how to place them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from vas_affinity.cpulist import cpus_asked
from vas_affinity.distance import Distances, ratio_distances
from vas_affinity.measure.result import measured_distances, read_measurement
from vas_affinity.options import snapshot_of
from vas_affinity.placement import Placement
from vas_affinity.reading import Asked
from vas_affinity.reading.threads import no_process, process_words
from vas_affinity.thread_plan import (
    Known,
    Policy,
    ThreadPlan,
    ThreadSettings,
    plan_threads,
    pose,
    read_graph,
    thread_plan_of,
)
from vas_affinity.thread_plan.memory import memory_shares
from vas_affinity.topology import Topology
from vas_core.cli import RealRange
from vas_core.errors import BadInput
from vas_core.root import Root

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class ThreadOptions:
    """What the user said of threads."""

    graph: Path | None
    distances: Path | None
    io_pattern: str | None
    only: str | None
    cpus: str | None
    policy: str
    seed: int
    budget: float | None
    idle_below: float

    def settings(self) -> ThreadSettings:
        """The planner's settings."""
        return ThreadSettings(
            policy=Policy(self.policy),
            seed=self.seed,
            budget_seconds=self.budget,
            cpus=() if self.cpus is None else cpus_asked(self.cpus, where="--cpus"),
            idle_below=self.idle_below,
        )


@dataclass(frozen=True)
class Planned:
    """A plan, and where its distances are from."""

    plan: ThreadPlan
    distances: str


def thread_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options, which the command takes as `**options` of ThreadOptions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option("--graph", type=_FILE, help="Who communicates: of `vas affinity graph`."),
    click.option("--distances", type=_FILE, help="Distances: of `vas affinity measure`."),
    click.option("--io", "io_pattern", metavar="REGEX", help="Threads that do I/O, by key."),
    click.option("--only", metavar="REGEX", help="Place these threads only, by key."),
    click.option("--cpus", metavar="LIST", help="Place threads on these CPUs: 0-3,8."),
    click.option(
        "--policy",
        type=click.Choice([policy.value for policy in Policy]),
        default=Policy.SCORE.value,
        help="The lowest score, or the slides' order of cores.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, help="Of the search: 0."),
    click.option(
        "--budget",
        type=RealRange(0, min_open=True),
        metavar="SECONDS",
        help="The longest the search may take.",
    ),
    click.option(
        "--idle-below",
        type=RealRange(0, min_open=True),
        default=0.2,
        help="A core used less is idle to the slides: 0.2.",
    ),
)


def threads_planned(
    source: Path | None,
    options: ThreadOptions,
    asked: Asked,
    given: Placement | None = None,
) -> Planned:
    """The plan of the threads of a captured host, or of this one's processes.

    It is `given`, if that is a plan of theirs. Raises BadInput where it is not, and NotHere where
    no process matches.
    """
    snapshot = snapshot_of(source, asked)
    unread = {one.what for one in snapshot.unread}
    if asked.processes and unread.issuperset(map(process_words, asked.processes)):
        raise no_process(asked.processes)
    pids = {thread.pid for thread in snapshot.threads}
    known = Known(
        graph=read_graph(options.graph) if options.graph else {},
        memory={} if source else memory_shares(Root(), pids),
        io=pattern(options.io_pattern, "--io"),
        only=pattern(options.only, "--only"),
    )
    chosen = distances_of(options.distances, snapshot.topology)
    settings = options.settings()
    if given is None:
        return Planned(plan_threads(snapshot, known, settings, chosen), chosen.source)
    return Planned(thread_plan_of(given, pose(snapshot, chosen, known, settings)), chosen.source)


def distances_of(file: Path | None, topology: Topology) -> Distances:
    """The measured distances of a file, or the ratio table's."""
    ratio = ratio_distances(topology)
    return measured_distances(ratio, topology, read_measurement(file), file) if file else ratio


def pattern(text: str | None, where: str) -> re.Pattern[str] | None:
    """A regular expression. Raises BadInput that names the option."""
    try:
        return None if text is None else re.compile(text)
    except re.error as wrong:
        raise BadInput(f"is no regular expression: {wrong}", where=where) from None
