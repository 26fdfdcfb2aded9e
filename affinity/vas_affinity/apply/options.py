"""The options of `apply`, `verify`, `rollback` and the daemon: host, state directory, libvirt."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.machine.reading.virsh import Virsh
from vas_core.root import Root

STATE = Path("/run/vas/affinity")
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


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --host, --state and --connect to a command, which gets them as `given`."""

    @wraps(command)
    def call(host: str | None, state: Path, connect: str | None, **rest: Any) -> Any:
        name = host or socket.gethostname().partition(".")[0]
        return command(HostOptions(name, state, connect), **rest)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_OPTIONS = (
    click.option("--host", help="Host that the plan is for.  [default: this machine's name]"),
    click.option(
        "--state", type=_path, default=STATE, show_default=True, help="Directory of the journal."
    ),
    click.option("--connect", metavar="URI", help="URI of libvirt.  [default: virsh's own]"),
)
plan_argument = click.argument("plan_file", metavar="PLAN.json", type=_path)
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the steps; change nothing.")
