"""Sends a guest's packets by one leg: the interface for lab and site, and what both use."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from vas_cluster import Cluster
from vas_core.process import run
from vas_routing.counters import parse_counters
from vas_routing.links import Leg


class Steering(Protocol):
    """Makes the guest that measures use a leg; None is the leg that the switcher takes.

    The methods raise VasError if a program fails.
    """

    def reach(self, argv: Sequence[str]) -> list[str]:
        """Returns the command line that runs a program on the guest."""
        ...

    def commands(self, leg: Leg | None) -> list[list[str]]:
        """Returns the commands that make the guest use a leg."""
        ...

    def settle(self, leg: Leg | None) -> None:
        """Waits until the guest uses the leg. Raises VasError if that takes too long."""
        ...

    def path(self, destination: str) -> Leg | None:
        """Returns the leg that the guest's kernel takes now; None without a route."""
        ...

    def devices(self) -> Mapping[Leg, str]:
        """Returns the name of the guest's interface of each leg."""
        ...


@dataclass(frozen=True)
class RouteCommands:
    """Builds command lines of `vas route` for one site."""

    cluster: Path
    config: Path
    choices: Path

    def line(self, command: Sequence[str], node: str, state: Path) -> list[str]:
        """Returns `vas route COMMAND...` for a node, with its state directory."""
        files = ["--cluster", str(self.cluster), "--config", str(self.config)]
        files += ["--choices", str(self.choices), "--node", node, "--state", str(state)]
        # Not `vas`: in a clone that is not on PATH.
        return [sys.executable, "-P", "-m", "vas_core", "route", *command, *files]


def switch(steering: Steering, leg: Leg | None) -> None:
    """Makes the guest use a leg, and waits until it does. Raises VasError if it does not."""
    for command in steering.commands(leg):
        run(command)
    steering.settle(leg)


def carried_bytes(steering: Steering) -> dict[Leg, int]:
    """Returns leg -> bytes that the guest received and sent by it so far. Raises VasError if they
    cannot be read."""
    table = parse_counters(run(steering.reach(["cat", "/proc/net/dev"])).stdout)
    of_leg = {leg: table[device] for leg, device in steering.devices().items()}
    return {leg: row["rx_bytes"] + row["tx_bytes"] for leg, row in of_leg.items()}


def leg_of(explained: Mapping[str, Any]) -> Leg | None:
    """Returns the leg that the kernel takes, from the output of `vas route explain --json`; None
    without a route."""
    if not explained["kernel"] or not explained["path"]:
        return None
    desired = Leg(explained["path"])
    other = Leg.SRIOV if desired is Leg.VIRTIO else Leg.VIRTIO
    return desired if explained["kernel"]["device"] == explained["device"] else other


def ask(argv: Sequence[str]) -> Leg | None:
    """Runs `vas route explain --json` and returns the leg that the kernel takes, desired or not.

    Returns None without a route. Raises VasError if the command cannot be run.
    """
    done = run(argv, check=False)
    return leg_of(json.loads(done.stdout)) if done.stdout else None


def address_of(cluster: Cluster, node: str) -> str:
    """Returns the service address of a host or guest."""
    host = cluster.host(node)
    return host.address if host else cluster.guest(node).address
