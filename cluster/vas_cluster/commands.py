"""`vas cluster`: check, show and describe the PM-to-VM map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from vas_cluster.hadoop import configuration_xml, hadoop_properties
from vas_cluster.loading import default_path, load_cluster
from vas_cluster.model import Cluster, Host
from vas_cluster.schema import schema_text
from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_core.problems import DocumentProblems
from vas_core.table import print_table

_file = click.argument(
    "file", type=click.Path(path_type=Path), required=False, default=default_path
)


@click.group()
def cluster() -> None:
    """Check and show the site's description, cluster.yaml (the PM-to-VM map)."""


@cluster.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1)
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> int:
    """Check maps: every problem is one line, with its fix.

    Without FILES, checks $VAS_CLUSTER or /etc/vas/cluster.yaml. Status 2 if one is wrong.

    \b
    Example: vas cluster check cluster/examples/*.yaml
    """
    checked = [_check(file) for file in files or (default_path(),)]
    if as_json:
        print_json(
            [{"file": str(file), "ok": bool(totals), **(totals or {})} for file, totals in checked]
        )
    else:
        for file, totals in checked:
            if totals:
                note(f"{file}: ok: " + ", ".join(f"{n} {what}" for what, n in totals.items()))
    return ExitStatus.DONE if all(totals for _, totals in checked) else ExitStatus.BAD_INPUT


@cluster.command()
@_file
@json_option
@click.option("--hadoop", is_flag=True, help="Print the Hadoop properties that the map implies.")
def show(file: Path, as_json: bool, hadoop: bool) -> None:
    """Show who serves which OSTs, and the VM beside them.

    \b
    Examples: vas cluster show
              vas cluster show site.yaml --json
              vas cluster show --hadoop > vas-site.xml
    """
    found = load_cluster(file)
    if hadoop:
        properties = hadoop_properties(found, file.resolve())
        if as_json:
            print_json(properties)
        else:
            click.echo(configuration_xml(properties), nl=False)
    elif as_json:
        print_json(found.model_dump(mode="json", exclude_none=True))
    else:
        _print(found)


@cluster.command()
def schema() -> None:
    """Print the JSON Schema of cluster.yaml.

    \b
    Example: vas cluster schema > cluster.schema.json
    """
    click.echo(schema_text(), nl=False)


def _check(file: Path) -> tuple[Path, dict[str, int] | None]:
    """The totals of a good map; of a bad one, its problems are told."""
    try:
        return file, _totals(load_cluster(file))
    except DocumentProblems as wrong:
        note(f"vas: {wrong}")
        return file, None


def _totals(found: Cluster) -> dict[str, int]:
    return {
        "hosts": len(found.hosts),
        "guests": len(found.guests()),
        "osts": sum(len(host.osts) for host in found.hosts),
    }


def _print(found: Cluster) -> None:
    lustre, manager = found.lustre, found.yarn.resourcemanager
    click.echo(f"site             {found.site}")
    click.echo(
        f"lustre           {lustre.fsname} at {lustre.mount}, MGS {':'.join(lustre.mgs_nids)}"
    )
    click.echo(f"{'':17}{lustre.flock.value}: {lustre.flock.meaning}")
    click.echo(f"resourcemanager  {manager.name} {found.resourcemanager_address}")
    shares = ", ".join(f"{queue.name} {queue.capacity} %" for queue in found.yarn.queues)
    click.echo(f"queues           {shares}\n")
    columns = ("HOST", "ADDRESS", "OSTS", "HA PARTNER", "GUEST", "GUEST ADDRESS", "VCPUS", "MEMORY")
    print_table(columns, (row for host in found.hosts for row in _rows(host)))


def _rows(host: Host) -> Iterator[tuple[object, ...]]:
    """A row for each guest; one for a host without."""
    itself = (host.name, host.address, ",".join(map(str, host.osts)), host.ha_partner or "-")
    for guest in host.guests:
        yield (*itself, guest.name, guest.address, guest.vcpus, guest.memory)
        itself = ("",) * 4
    if not host.guests:
        yield (*itself, *("-",) * 4)
