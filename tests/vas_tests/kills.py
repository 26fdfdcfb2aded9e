"""Kills daemons of a lab while a probe job's reducers are held at half of their output."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from vas_core.polling import poll
from vas_lab.control import ControlRequest
from vas_lab.hadoop.daemons import node_manager
from vas_lab.lab import Lab
from vas_tests.faults import PATIENCE_SECONDS, FaultyJob, Point, attempt, names

OUTPUT = "part-r-"
HALF = 500
"""The call at half of the 250 lines, of four calls each, that about every reducer writes."""
SPREAD = {"mapreduce.map.memory.mb": "600", "mapreduce.reduce.memory.mb": "600"}
"""One map and one reducer on each node at a time."""


def halves() -> dict[str, Point]:
    """Returns a reducer's first attempt -> the half of its output, for each reducer."""
    return {
        name: Point(f"half-of-{name}", attempt(name), "write", OUTPUT, nth=HALF)
        for name in sorted(names("r", 0))
    }


def at_half(job: FaultyJob) -> dict[str, str]:
    """Waits until each reducer is at half of its output; returns node -> the reducer's attempt."""
    return {job.held(point.name).node: name for name, point in halves().items()}


def release_halves(job: FaultyJob, reducers: set[str]) -> None:
    """Lets reducers go on that are held at their halves."""
    job.release(*(halves()[name].name for name in reducers))


@contextmanager
def dead(lab: Lab, guest: str) -> Iterator[None]:
    """Kills a NodeManager, and starts it again after the body; its containers live on."""
    kill(lab, node_manager(guest))
    try:
        yield
    finally:
        lab.ask(ControlRequest(ask="start", daemon=node_manager(guest)))
        poll(lambda: nodes(lab).get(guest), lambda s: s == "RUNNING", PATIENCE_SECONDS, guest)


def kill(lab: Lab, daemon: str) -> None:
    """Kills a daemon of the lab; afterwards it can be started again."""

    def is_alive() -> bool:
        daemons = lab.ask(ControlRequest(ask="status")).daemons
        return next(d.pid is not None for d in daemons if d.name == daemon)

    lab.ask(ControlRequest(ask="signal", daemon=daemon, signal=signal.SIGKILL))
    poll(is_alive, lambda alive: not alive, PATIENCE_SECONDS, f"{daemon} to end")


def restart(lab: Lab, guest: str) -> None:
    """Kills a NodeManager, starts it again, and waits until YARN has it back."""
    daemon = node_manager(guest)

    def registrations() -> int:
        log = lab.spec.logs / f"{daemon}.log"
        return log.read_text(errors="replace").count("Registered with ResourceManager")

    before = registrations()
    kill(lab, daemon)
    lab.ask(ControlRequest(ask="start", daemon=daemon))
    poll(registrations, lambda now: now > before, PATIENCE_SECONDS, f"{daemon} to be back")


def nodes(lab: Lab) -> dict[str, str]:
    """Returns node -> state, as the ResourceManager has it."""
    return lab.ask(ControlRequest(ask="status")).nodes
