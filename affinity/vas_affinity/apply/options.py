"""The options of `apply`, `verify`, `rollback` and the daemon: host, state directory, libvirt."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

import click

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.machine.reading.virsh import Virsh
from vas_core.options import shared
from vas_core.root import Root

STATE = Path("/run/vas/affinity")
STARTS = "guest-starts"
"""Directory, in the state's, of what libvirt's hook set and counted at guests' starts."""
_path = click.Path(path_type=Path)


@dataclass(frozen=True)
class HostOptions:
    """The values of --host, --state and --connect."""

    name: str
    state: Path
    connect: str | None

    @property
    def host(self) -> LocalHost:
        """Returns this machine with that state directory and libvirt."""
        return LocalHost(self.state, HostSettings(Root(), Virsh(self.connect)))

    @property
    def starts(self) -> Path:
        """Returns the directory of what libvirt's hook did at guests' starts."""
        return self.state / STARTS

    @property
    def host_of_starts(self) -> LocalHost:
        """Returns this machine with the journal of what libvirt's hook set.

        The daemon's journal is not for it: the daemon restores what is not in its plan.
        """
        return LocalHost(self.starts, self.host.settings)


def _host_options(host: str | None, state: Path, connect: str | None) -> HostOptions:
    return HostOptions(host or socket.gethostname().partition(".")[0], state, connect)


host_options = shared(
    "given",
    _host_options,
    click.option("--host", help="Host that the plan is for.  [default: this machine's name]"),
    click.option(
        "--state", type=_path, default=STATE, show_default=True, help="Directory of the journal."
    ),
    click.option("--connect", metavar="URI", help="URI of libvirt.  [default: virsh's own]"),
)
"""Adds --host, --state and --connect to a command, which gets them as `given`."""

plan_argument = click.argument("plan_file", metavar="PLAN.json", type=_path)
