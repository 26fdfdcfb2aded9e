"""Makes four nodes of this machine: network namespaces with an address each, and a bridge."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vas_a2av.ending import interrupted_by_signals
from vas_core.process import run

NODES = 4
_MOST_LOOKS = 100
_PREFIX = "vas-a2av"
_HUB = f"{_PREFIX}-hub"
# Two demos at once would remove each other's nodes.
LOCK = Path("/run/vas-a2av-demo.lock")

# What mpiexec calls with a host and a command line, as it calls ssh.
_AGENT = f"""#!/bin/sh
node=${{1##*.}}
shift
exec ip netns exec {_PREFIX}-$node unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' \\
    node-$node "$*"
"""


def address(node: int) -> str:
    """Returns the address of a node from 1 to NODES."""
    return f"10.210.0.{node}"


def inside(node: int) -> list[str]:
    """Returns the words that run a command on a node, with the node's host name."""
    naming = 'hostname "$0"; exec "$@"'
    where = ["ip", "netns", "exec", f"{_PREFIX}-{node}", "unshare", "--uts"]
    return [*where, "sh", "-c", naming, f"node-{node}"]


@contextmanager
def four_nodes(directory: Path) -> Iterator[Path]:
    """Makes four nodes, and removes them at the end, also at SIGTERM.

    Waits for another demo to end.

    Yields the path of a program that mpiexec calls in place of ssh, written to `directory`.

    Everything is in namespaces of its own: the host's interfaces, routes and firewall stay as they
    are. Raises CommandFailed.
    """
    with interrupted_by_signals(), LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from _nodes(directory)


def _nodes(directory: Path) -> Iterator[Path]:
    remove_nodes()
    agent = directory / "agent"
    agent.write_text(_AGENT)
    agent.chmod(0o755)
    try:
        run(["ip", "netns", "add", _HUB])
        run(["ip", "-n", _HUB, "link", "add", "bridge", "up", "type", "bridge"])
        for node in range(1, NODES + 1):
            _add_node(node)
        yield agent
    finally:
        remove_nodes()


def _add_node(node: int) -> None:
    name = f"{_PREFIX}-{node}"
    run(["ip", "netns", "add", name])
    peer = ["peer", "name", f"node{node}", "netns", _HUB]
    run(["ip", "-n", name, "link", "add", "eth0", "type", "veth", *peer])
    run(["ip", "-n", _HUB, "link", "set", f"node{node}", "master", "bridge", "up"])
    run(["ip", "-n", name, "address", "add", f"{address(node)}/24", "dev", "eth0"])
    for link in ("lo", "eth0"):
        run(["ip", "-n", name, "link", "set", link, "up"])


def remove_nodes() -> None:
    """Removes the namespaces of the nodes, also those that a killed demo has left.

    Processes in them are killed: ranks go on where mpiexec is gone.
    """
    names = [entry["name"] for entry in json.loads(run(["ip", "-j", "netns"]).stdout or "[]")]
    for name in names:
        if name == _HUB or name in {f"{_PREFIX}-{node}" for node in range(1, NODES + 1)}:
            _kill_all_in(name)
            run(["ip", "netns", "delete", name])


def _kill_all_in(name: str) -> None:
    # What is killed may just have started others.
    for _ in range(_MOST_LOOKS):
        words = run(["ip", "netns", "pids", name], check=False).stdout.split()
        if not words:
            return
        for word in words:
            with suppress(ProcessLookupError):
                os.kill(int(word), signal.SIGKILL)
