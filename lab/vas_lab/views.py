"""Prints the state of labs for people."""

from __future__ import annotations

import shutil
from typing import Any

import click

from vas_core.cli import note
from vas_core.program import as_called
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_lab.network.apply import configuration, creation
from vas_lab.network.topology import LabTopology
from vas_yarn.jobs.job import JobResult

_PATH_COLUMNS = ("GUEST", "LEG", "DEVICE", "TO", "SENT", "PACKETS", "RECEIVED", "PACKETS")


def print_network(topology: LabTopology) -> None:
    """Prints the `ip` commands that make a lab's network."""
    for command in creation(topology):
        click.echo(f"ip {command}")
    for node in topology.nodes:
        for command in configuration(topology, node):
            click.echo(f"ip -n {node} {command}")


def note_job(program: str, result: JobResult) -> None:
    """Prints one line on stderr about a job that ended."""
    note(
        f"{program}: {result.state} after {result.seconds:.1f} s, {result.cpu_seconds:.0f} CPU s; "
        f"maps: {result.data_local_maps} data-local, {result.rack_local_maps} rack-local, "
        f"{result.other_maps} other; {result.application_id}"
    )


def print_status(found: dict[str, Any]) -> None:
    """Prints a running lab: its daemons and legs, what is broken, and what is real."""
    how = "rootless, in a user namespace" if found["rootless"] else "as root"
    state = "BROKEN" if found["problems"] else "up"
    click.echo(f"lab {found['name']} is {state} ({how}), its state in {found['state_dir']}")
    click.echo(f"Lustre mount {found['mount']}; daemons use {format_size(found['rss_bytes'])}\n")
    columns = ("DAEMON", "NODE", "STATE", "PID", "MEMORY", "YARN STATE")
    print_table(columns, (_daemon_row(found, daemon) for daemon in found["daemons"]))
    click.echo()
    print_table(_PATH_COLUMNS, (_path_row(path) for path in found["paths"]))
    if found["problems"]:
        click.echo("\nbroken:")
    for problem in found["problems"]:
        click.echo(f"  {problem['what']}; {problem['fix']}")
    for title, lines in (("real", found["real"]), ("not real", found["not_real"])):
        click.echo(f"\n{title}:")
        for name, text in lines.items():
            click.echo(_wrapped(as_called(f"{name}: {text}")))


def _wrapped(text: str) -> str:
    width = shutil.get_terminal_size().columns
    return click.wrap_text(text, width, initial_indent="  ", subsequent_indent="    ")


def _path_row(path: dict[str, Any]) -> tuple[object, ...]:
    names = (path["node"], path["leg"], path["device"], path["carries"])
    sent, received = format_size(path["tx_bytes"]), format_size(path["rx_bytes"])
    return (*names, sent, path["tx_packets"], received, path["rx_packets"])


def _daemon_row(found: dict[str, Any], daemon: dict[str, Any]) -> tuple[object, ...]:
    is_manager = daemon["name"].startswith("nodemanager-")
    yarn = found["nodes"].get(daemon["node"], "unknown") if is_manager else ""
    if daemon["ended"] is not None:
        return (daemon["name"], daemon["node"], f"dead: {daemon['ended']}", "-", "-", yarn)
    size = format_size(daemon["rss_bytes"])
    return (daemon["name"], daemon["node"], "running", daemon["pid"], size, yarn)
