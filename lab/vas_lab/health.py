"""Finds out what is broken in a lab that is up. Pure: the supervisor's answer in, problems out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from vas_lab.control import ControlAnswer
from vas_lab.hadoop.daemons import RESOURCE_MANAGER, node_manager
from vas_lab.state import name_option


@dataclass(frozen=True)
class LabProblem:
    """Something that does not work in a lab; `stops_jobs`: until it is mended no job can end."""

    what: str
    fix: str
    stops_jobs: bool

    def __str__(self) -> str:
        return f"{self.what}; {self.fix}"

    def as_json(self) -> dict[str, object]:
        """Returns the problem as `vas lab status --json` prints it."""
        return asdict(self)


def find_problems(answer: ControlAnswer, state_dir: Path) -> list[LabProblem]:
    """Finds dead daemons, nodes that cannot be entered, and NodeManagers that are not RUNNING."""
    dead = {daemon.name for daemon in answer.daemons if daemon.ended is not None}
    option = name_option(state_dir)
    found = [*_dead_daemons(answer, option), *_nodes_not_held(answer, option)]
    if RESOURCE_MANAGER not in dead:
        found += _lost_nodes(answer, dead, state_dir)
    return found


def _dead_daemons(answer: ControlAnswer, option: str) -> Iterator[LabProblem]:
    for daemon in answer.daemons:
        if daemon.ended is not None:
            yield LabProblem(
                f"{daemon.name} is dead ({daemon.ended})",
                f"`vas lab logs{option} {daemon.name}` says why, "
                f"`vas lab down{option}` and `vas lab up{option}` start it again",
                stops_jobs=daemon.name != node_manager(daemon.node),
            )


def _nodes_not_held(answer: ControlAnswer, option: str) -> Iterator[LabProblem]:
    for node, ended in answer.lost_nodes.items():
        # What runs there runs on; it keeps the namespaces.
        yield LabProblem(
            f"{node} cannot be entered: the process that held its namespaces is dead ({ended})",
            f"`vas lab down{option}` and `vas lab up{option}` start it again",
            stops_jobs=False,
        )


def _lost_nodes(answer: ControlAnswer, dead: set[str], state_dir: Path) -> Iterator[LabProblem]:
    option = name_option(state_dir)
    if not answer.nodes:
        fix = f"`vas lab logs{option} {RESOURCE_MANAGER}` may say why"
        yield LabProblem("the ResourceManager does not answer", fix, stops_jobs=True)
    for node, state in answer.nodes.items():
        if state == "RUNNING" or node_manager(node) in dead:
            continue
        fix = f"`vas lab logs{option} {node_manager(node)}` may say why"
        if state == "UNHEALTHY":
            fix = f"free some space at {state_dir}: YARN takes a node with a full disk for ill"
        yield LabProblem(f"{node} is {state} at the ResourceManager", fix, stops_jobs=False)
