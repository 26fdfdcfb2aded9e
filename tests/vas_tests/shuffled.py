"""The daemons vas-shuffled of a lab's nodes: their settings, processes and metrics."""

from __future__ import annotations

import sys
from pathlib import Path

from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.leftovers import command_line

PROGRAM = REPOSITORY / "shuffled/target/release/vas-shuffled"
READ_BYTES = ("served_bytes_total", "own_bytes_total")
"""The metrics of the bytes of segments that a daemon has read, for whatever node."""
_METRICS_PORT = 13564
WITH_DAEMON = {
    "yarn.nodemanager.aux-services.mapreduce_shuffle.class": (
        "org.vas.shuffle.node.DaemonShuffleHandler"
    ),
    "vas.shuffled.program": str(PROGRAM),
    "vas.shuffled.metrics-port": str(_METRICS_PORT),
}
"""The properties of a lab whose NodeManagers run the daemon beside stock's shuffle."""


def with_recovery(state: Path) -> dict[str, str]:
    """Returns the properties by which a lab's NodeManagers survive a restart with their containers.

    `state` is the lab's directory. A node that is away for 30 s is lost: longer than a NodeManager
    needs to start again.
    """
    return {
        "yarn.nodemanager.recovery.enabled": "true",
        "yarn.nodemanager.recovery.supervised": "true",
        "yarn.nodemanager.recovery.dir": f"{state}/nodes/${{env.VAS_NODE}}/recovery",
        "yarn.nm.liveness-monitor.expiry-interval-ms": "30000",
    }


def daemons(program: Path = PROGRAM) -> set[int]:
    """Returns the ids, outside the lab, of the daemons of all nodes of all labs of this program."""
    return {
        process.pid
        for process in processes(Root())
        if command_line(process.pid).split()[:1] == [str(program)]
    }


def metrics(lab: Lab, *names: str) -> list[int]:
    """Returns the sum over a lab's nodes of each of these metrics, since each daemon's start.

    The names are without `vas_shuffled_`. Raises CommandFailed if a daemon does not answer,
    KeyError for a name that one does not have.
    """
    url = f"http://127.0.0.1:{_METRICS_PORT}/metrics"
    ask = f"import urllib.request as u; print(u.urlopen({url!r}).read().decode())"
    sums = dict.fromkeys(names, 0)
    for guest in lab.spec.cluster.guests():
        text = lab.call([sys.executable, "-c", ask], node=guest.name).stdout
        lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
        told = {words[0].removeprefix("vas_shuffled_"): int(words[1]) for words in lines if words}
        for name in names:
            sums[name] += told[name]
    return list(sums.values())
