"""Options of `plan`, `explain` and the daemon: which threads to place, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click

from vas_affinity.joint import JointInput
from vas_affinity.machine.cpulist import cpus_asked
from vas_affinity.machine.distance import Distances, ratio_distances
from vas_affinity.machine.measure.result import measured_distances, read_measurement
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.machine.reading.memory import memory_shares
from vas_affinity.machine.reading.threads import no_process, process_words
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.options import snapshot_of
from vas_affinity.placement import HostPlacement
from vas_affinity.threads import (
    Policy,
    ThreadGraph,
    ThreadPlan,
    ThreadPlanInput,
    ThreadPlanSettings,
    plan_threads,
    read_graph,
    thread_plan_of,
    thread_problem,
)
from vas_core.cli import RealRange
from vas_core.errors import BadInput
from vas_core.options import shared
from vas_core.root import Root

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class ThreadOptions:
    """The values of the options that `thread_options` adds."""

    graph: Path | None
    distances: Path | None
    io_pattern: str | None
    only: str | None
    cpus: str | None
    policy: str
    seed: int
    budget: float | None
    idle_below: float

    def settings(self) -> ThreadPlanSettings:
        """Returns the planner's settings. Raises BadInput for a wrong --cpus or --policy."""
        if self.policy == Policy.RULE:
            raise BadInput("is for guests: threads have no rule", where="--policy rule")
        return ThreadPlanSettings(
            policy=Policy(self.policy),
            seed=self.seed,
            budget_seconds=self.budget,
            cpus=() if self.cpus is None else cpus_asked(self.cpus, where="--cpus"),
            idle_below=self.idle_below,
        )


@dataclass(frozen=True)
class Planned:
    """A plan of threads, and what it was made of besides the snapshot; `distances` in words."""

    plan: ThreadPlan
    distances: str
    known: ThreadPlanInput
    settings: ThreadPlanSettings
    between: Distances


thread_options = shared(
    "threads",
    ThreadOptions,
    click.option("--graph", type=_FILE, help="Communication and disks, by `vas affinity graph`."),
    click.option("--distances", type=_FILE, help="Distances, by `vas affinity measure`."),
    click.option("--io", "io_pattern", metavar="REGEX", help="Keys of threads that do I/O."),
    click.option("--only", metavar="REGEX", help="Keys of the threads to place; others stay."),
    click.option("--cpus", metavar="LIST", help="CPUs to place threads on, like 0-3,8."),
    click.option(
        "--policy",
        type=click.Choice([policy.value for policy in Policy]),
        default=Policy.SCORE.value,
        help="Take the lowest score, the slides' order of cores, or the rule (guests only).",
    ),
    click.option(
        "--seed", type=click.IntRange(0), default=0, help="Random seed of the search [default: 0]."
    ),
    click.option(
        "--budget",
        type=RealRange(0, min_open=True),
        metavar="SECONDS",
        help="Longest time of the search.",
    ),
    click.option(
        "--idle-below",
        type=RealRange(0, min_open=True),
        default=0.2,
        help="Use below which the slides call a core idle [default: 0.2].",
    ),
)


def threads_planned(
    source: Path | None,
    options: ThreadOptions,
    asked: SnapshotRequest,
    given: HostPlacement | None = None,
) -> Planned:
    """Plans the threads of a captured host, or of this host's processes.

    Returns the plan `given` instead, if there is one. Raises BadInput if that is a plan of other
    threads, NotHere if no process matches.
    """
    graph = _graph(options)
    snapshot = graph.named_in(snapshot_of(source, asked))
    unread = {one.what for one in snapshot.unread}
    if asked.processes and unread.issuperset(map(process_words, asked.processes)):
        raise no_process(asked.processes)
    pids = {thread.pid for thread in snapshot.threads}
    known = ThreadPlanInput(
        graph=graph.pairs,
        memory={} if source else memory_shares(Root(), pids),
        io=pattern(options.io_pattern, "--io"),
        only=pattern(options.only, "--only"),
    )
    chosen = distances_of(options.distances, snapshot.topology)
    settings = options.settings()
    if given is None:
        plan = plan_threads(snapshot, known, settings, chosen)
    else:
        plan = thread_plan_of(given, thread_problem(snapshot, chosen, known, settings))
    return Planned(plan, chosen.source, known, settings, chosen)


def joint_input(
    source: Path | None, options: ThreadOptions, asked: SnapshotRequest
) -> tuple[Snapshot, JointInput]:
    """Returns a host as it is, and what the options say of a plan of its guests."""
    graph = _graph(options)
    snapshot = graph.named_in(snapshot_of(source, asked))
    known = JointInput(
        graph=graph.pairs,
        distances=distances_of(options.distances, snapshot.topology),
        seed=options.seed,
        budget_seconds=options.budget,
    )
    return snapshot, known


def _graph(options: ThreadOptions) -> ThreadGraph:
    return read_graph(options.graph) if options.graph else ThreadGraph()


def distances_of(file: Path | None, topology: MachineTopology) -> Distances:
    """Returns the measured distances in a file, or the ratio table's if `file` is None."""
    ratio = ratio_distances(topology)
    return measured_distances(ratio, topology, read_measurement(file), file) if file else ratio


def pattern(text: str | None, where: str) -> re.Pattern[str] | None:
    """Compiles an option's regular expression. Raises BadInput that names the option."""
    try:
        return None if text is None else re.compile(text)
    except re.error as wrong:
        raise BadInput(f"is not a regular expression: {wrong}", where=where) from None
