"""Starts the route daemons of the rig's nodes, and reads their logs."""

from __future__ import annotations

import sys
from pathlib import Path

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.sriov.guests import SITE
from vas_tests.sriov.node import Node
from vas_tests.sriov.rig import Rig

_NAME = "vas-routed"
_PROGRAM = Path(sys.executable).with_name(_NAME)
_SETTINGS = Path(__file__).with_name("route.yaml")
_START_SECONDS = 600.0


def start_all(rig: Rig, state: Path) -> None:
    """Starts the daemon of every node and waits until each has made its routes.

    `state` is the directory for the node that is a namespace of this machine. Raises VasError
    with the log if a daemon ends, or takes longer than ten minutes.
    """
    for node in rig.nodes:
        start(node, state if node is rig.oss2 else Path("/run/vas/route"))
    for node in rig.nodes:
        _await(node)


def start(node: Node, state: Path) -> None:
    """Starts the daemon of one node and returns at once; in a guest its start takes minutes."""
    files = ("--cluster", SITE, "--config", _SETTINGS, "--state", state, "--kept", state / "kept")
    node.start(_NAME, [_PROGRAM, *files, "--node", node.name, "--metrics", "off"])


def log(node: Node) -> str:
    """Returns what a node's daemon has logged so far."""
    return node.log(_NAME)


def _await(node: Node) -> None:
    def look() -> str:
        said = log(node)
        if (status := node.ended(_NAME)) is not None:
            raise VasError(f"{_NAME} ended with status {status}\n{said}", where=node.name)
        return said

    what = f"the routes of {node.name}"
    poll(look, lambda said: "routes are right" in said, _START_SECONDS, what)
