"""The options that say which host a plan is made true on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from vas_affinity.apply.host import Host
from vas_affinity.apply.knobs import Knobs
from vas_affinity.apply.virsh import Virsh
from vas_core.root import Root

STATE = Path("/run/vas/affinity")
_path = click.Path(path_type=Path)


@dataclass(frozen=True)
class Given:
    """What the options say."""

    name: str
    state: Path
    connect: str | None

    @property
    def host(self) -> Host:
        """This machine."""
        return Host(self.state, Knobs(Root(), Virsh(self.connect)))


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `given` for --host, --state and --connect."""

    @wraps(command)
    def call(host: str | None, state: Path, connect: str | None, **rest: Any) -> Any:
        name = host or socket.gethostname().partition(".")[0]
        return command(Given(name, state, connect), **rest)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_OPTIONS = (
    click.option("--host", help="Which host the plan is of.  [default: this machine's name]"),
    click.option(
        "--state", type=_path, default=STATE, show_default=True, help="Where the journal is."
    ),
    click.option("--connect", metavar="URI", help="Which libvirt.  [default: virsh's own]"),
)
plan_argument = click.argument("plan_file", metavar="PLAN.json", type=_path)
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the steps; change nothing.")
