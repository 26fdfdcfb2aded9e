"""Sending a guest's packets by one leg: what a lab and a site have in common."""

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
    """How the guest that measures is made to use a leg. None as a leg: whichever it takes by
    itself."""

    def reach(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs a program on the guest."""
        ...

    def commands(self, leg: Leg | None) -> list[list[str]]:
        """What is run to make it so."""
        ...

    def settle(self, leg: Leg | None) -> None:
        """Returns when it is so. Raises VasError when that takes too long."""
        ...

    def path(self, destination: str) -> Leg | None:
        """The leg that the guest's kernel takes now; None without a route."""
        ...

    def devices(self) -> Mapping[Leg, str]:
        """The guest's interfaces."""
        ...


@dataclass(frozen=True)
class RouteCommands:
    """Command lines of `vas route` about one site."""

    cluster: Path
    config: Path
    choices: Path

    def line(self, command: Sequence[str], node: str, state: Path) -> list[str]:
        """`vas route COMMAND...` for a node, with its state directory."""
        files = ["--cluster", str(self.cluster), "--config", str(self.config)]
        files += ["--choices", str(self.choices), "--node", node, "--state", str(state)]
        # Not `vas`: in a clone that is not on PATH.
        return [sys.executable, "-m", "vas_core", "route", *command, *files]


def switch(steering: Steering, leg: Leg | None) -> None:
    """Makes the guest use a leg; returns when it does."""
    for command in steering.commands(leg):
        run(command)
    steering.settle(leg)


def carried_bytes(steering: Steering) -> dict[Leg, int]:
    """What the guest's legs have carried so far, in and out."""
    table = parse_counters(run(steering.reach(["cat", "/proc/net/dev"])).stdout)
    of_leg = {leg: table[device] for leg, device in steering.devices().items()}
    return {leg: row["rx_bytes"] + row["tx_bytes"] for leg, row in of_leg.items()}


def leg_of(explained: Mapping[str, Any]) -> Leg | None:
    """The leg that the kernel takes, of `vas route explain --json`; None without a route."""
    if not explained["kernel"] or not explained["path"]:
        return None
    desired = Leg(explained["path"])
    other = Leg.SRIOV if desired is Leg.VIRTIO else Leg.VIRTIO
    return desired if explained["kernel"]["device"] == explained["device"] else other


def ask(argv: Sequence[str]) -> Leg | None:
    """Runs that command and reads its answer, also where it found that the kernel differs."""
    done = run(argv, check=False)
    return leg_of(json.loads(done.stdout)) if done.stdout else None


def address_of(cluster: Cluster, node: str) -> str:
    """The service address of a host or guest."""
    host = cluster.host(node)
    return host.address if host else cluster.guest(node).address
