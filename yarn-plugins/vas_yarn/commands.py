"""`vas job`: what became of a job's placement."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from vas_cluster import Cluster, default_path, load_cluster
from vas_core.cli import json_option, note, print_json, print_table
from vas_core.errors import VasError
from vas_core.sizes import format_size
from vas_layout.locate import Placement, placements
from vas_layout.owners import OstOwners
from vas_layout.store import LayoutReader
from vas_yarn import placement_log
from vas_yarn.history import History, Split, job_id
from vas_yarn.locality import MapLocality, judge


@click.group()
def job() -> None:
    """Ask what became of a job."""


@job.command()
@click.argument("application_id")
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    default=default_path,
    help="The site's map. [default: $VAS_CLUSTER, else /etc/vas/cluster.yaml]",
)
@click.option("--history", help="The JobHistoryServer. [default: http://RESOURCEMANAGER:19888]")
@click.option(
    "--log",
    "logs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A ResourceManager log with the plugin's decisions. [default: $VAS_PLACEMENT_LOG]",
)
@json_option
def locality(
    application_id: str,
    cluster_file: Path,
    history: str | None,
    logs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show where each map ran, where its stripe is, and why.

    \b
    Example: vas job locality application_1700000000000_0001
             vas job locality job_1700000000000_0001 --log /var/log/hadoop/rm.log --json
    """
    cluster = load_cluster(cluster_file)
    server = History(history or f"http://{cluster.yarn.resourcemanager.name}:19888")
    from_environment = [Path(p) for p in (os.environ.get("VAS_PLACEMENT_LOG"),) if p]
    decisions = placement_log.read(logs or from_environment)
    rows = list(_rows(server, job_id(application_id), cluster, decisions))
    if as_json:
        print_json([row.as_json() for row in rows])
    else:
        _print(rows)


def _rows(
    server: History, job: str, cluster: Cluster, decisions: list[placement_log.Decision]
) -> Iterator[MapLocality]:
    owners = OstOwners(cluster)
    mine = [d for d in decisions if d.app == job.replace("job_", "application_")]
    for attempt in server.maps(job):
        split = server.split(attempt)
        yield judge(attempt, split, _placements(split, cluster, owners), cluster, mine)


def _placements(split: Split | None, cluster: Cluster, owners: OstOwners) -> list[Placement]:
    if split is None:
        return []
    path = Path(cluster.lustre.mount) / split.path.lstrip("/")
    try:
        layout = LayoutReader().read(path)
    except VasError as unreadable:
        note(f"vas: {unreadable}")
        return []
    return list(placements(layout, split.offset, split.length, owners))


def _print(rows: list[MapLocality]) -> None:
    columns = ("MAP", "SPLIT", "OST", "OSS", "VM", "RAN ON", "WHERE", "WHY")
    print_table(columns, (_cells(row) for row in rows))
    counts = Counter(row.where for row in rows)
    local, total = (sum(bytes_) for bytes_ in zip(*_bytes(rows), strict=True)) if rows else (0, 0)
    summary = ", ".join(f"{count} {where}" for where, count in counts.most_common())
    click.echo(f"\n{len(rows)} maps: {summary}; {format_size(local)} of {format_size(total)} local")


def _bytes(rows: list[MapLocality]) -> Iterator[tuple[int, int]]:
    for row in rows:
        yield row.local_bytes, row.length or 0


def _cells(row: MapLocality) -> tuple[object, ...]:
    split = f"{row.path}:{row.offset}+{row.length}" if row.path else "-"
    place = ("-" if value is None else value for value in (row.ost, row.oss, row.vm))
    return (row.task.rpartition("_")[2], split, *place, row.ran_on, row.where.value, row.why)
