"""Makes the nodes of a lab: each is a network, a mount and a UTS namespace, held by a process.

A file under /run cannot hold them: a bind mount of a mount namespace needs the kernel to number
namespaces in the order they are made, and Linux 6.18, which numbers them per CPU, refuses some at
random with EINVAL.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from vas_core.errors import VasError
from vas_core.process import run
from vas_lab.inside.mounts import RUN_ROUTE, route_state

# $1 is the node's name, $2 what stands for $3, the route switcher's state there. A container's
# kernel may refuse a new sysfs (EPERM); then the outer one stays, and only its network devices
# are wrong.
_SET_UP = """
hostname "${1#_}"
mount -t sysfs sysfs /sys 2>/dev/null || :
mkdir -p "$2" "$3"
mount --bind "$2" "$3"
"""
# $4 is the directory that stands for /sys/fs/lustre.
_SHOW_LUSTRE = """
mount -t tmpfs tmpfs /sys/fs
mkdir /sys/fs/lustre
mount --bind "$4" /sys/fs/lustre
"""
Holder = subprocess.Popen[str]
_HOLD = "echo ready; exec sleep infinity >/dev/null"


def set_up_nodes(nodes: Iterable[str], master: str, sysfs: Path | None) -> dict[str, Holder]:
    """Gives every node its name, /sys and RUN_ROUTE; returns node -> the process that holds it.

    The master has none. The nodes' network namespaces must exist (`ip netns`). `sysfs` is mounted
    at their /sys/fs/lustre; None: nothing is. Raises VasError if a holder ends before its node is
    made.
    """
    holders = {node: _start_holder(node, sysfs) for node in nodes if node != master}
    for node, holder in holders.items():
        _until_held(node, holder)
    # The master last: the others start as copies of its mounts, and a kernel allows them a
    # sysfs of their own only while nothing covers a part of the one they see.
    run(_shell("", master, sysfs))
    return holders


def _start_holder(node: str, sysfs: Path | None) -> Holder:
    own = ["nsenter", f"--net=/run/netns/{node}", "--", "unshare", "--uts", "--mount", "--"]
    argv = [*own, *_shell(_HOLD, node, sysfs)]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def _shell(then: str, node: str, sysfs: Path | None) -> list[str]:
    words = [node, str(route_state(node)), str(RUN_ROUTE)]
    if sysfs is None:
        return ["sh", "-euc", _SET_UP + then, "sh", *words]
    return ["sh", "-euc", _SET_UP + _SHOW_LUSTRE + then, "sh", *words, str(sysfs)]


def _until_held(node: str, holder: Holder) -> None:
    assert holder.stdout is not None
    with holder.stdout as output:
        if output.readline() != "ready\n":
            raise VasError(
                f"its namespaces could not be made: exit status {holder.wait()}",
                where=f"node {node}",
                hint="the reason is in supervisor.log",
            )
