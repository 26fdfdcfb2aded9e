"""The command `vas affinity plan`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.guest_plan import (
    GuestPlanSettings,
    GuestRequest,
    plan_guests,
    requests_of,
    settings_of,
)
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.machine.snapshot import Snapshot
from vas_affinity.options import (
    connect_option,
    from_option,
    process_option,
    seconds_option,
    snapshot_of,
)
from vas_affinity.placement import HostPlacement
from vas_affinity.plan.options import ThreadOptions, thread_options, threads_planned
from vas_affinity.plan.table import print_plan
from vas_cluster import Cluster, Host, load_cluster
from vas_core.cli import RealRange, SizeType, json_option, note, print_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically

_FILE = click.Path(path_type=Path)
_MEMORY = SizeType(least=1 << 20)


@click.command()
@from_option
@click.option("--cluster", type=_FILE, help="Map; place the guests of its host.")
@click.option("--host", metavar="NAME", help="Host of the map, if its name is not this one's.")
@click.option("--vcpus", type=click.IntRange(1, 1024), help="Place one guest of so many vCPUs.")
@click.option("--memory", type=_MEMORY, help="Guest memory, like 6GiB. [default: 1GiB a vCPU]")
@click.option(
    "--iothreads",
    type=click.IntRange(0, 16),
    default=GuestRequest.model_fields["iothreads"].default,
    help="Guest I/O threads [default: 1].",
)
@click.option(
    "--oss-share", type=RealRange(0, 0.9), help="Share of cores that the OSS keeps [default: 0.25]."
)
@click.option("--junk-siblings", is_flag=True, help="Leave siblings of vCPUs' cores without work.")
@click.option(
    "--huge-pages/--no-huge-pages", default=True, help="Put the guests' memory in huge pages."
)
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--out", type=_FILE, help="File to write the plan to, as well.")
@json_option
def plan(
    source: Path | None,
    cluster: Path | None,
    host: str | None,
    vcpus: int | None,
    memory: int | None,
    iothreads: int,
    oss_share: float | None,
    junk_siblings: bool,
    huge_pages: bool,
    processes: tuple[str, ...],
    seconds: float,
    connect: str | None,
    out: Path | None,
    as_json: bool,
    threads: ThreadOptions,
) -> None:
    """Plan which CPU each vCPU, I/O thread or thread gets.

    Plans guests (--cluster or --vcpus) or threads (--process, or the threads of a snapshot given
    by --from), each with its reason. Changes nothing: `vas affinity apply` applies the plan, and
    `vas affinity explain` shows its score.

    \b
    Examples: vas affinity plan --vcpus 8 --memory 16GiB --out plan.json
              vas affinity plan --from oss1.tar.bz2 --cluster cluster.yaml --host oss1 --json
              vas affinity plan --process ll_ost_io --process NodeManager --graph graph.json
              vas affinity plan --from oss1.json --policy slides

    \f
    Raises BadInput where there is nothing to place, or options contradict one another.
    """
    _check_what(vcpus is not None, bool(cluster), bool(processes or source))
    share = {} if oss_share is None else {"oss_share": oss_share}
    settings = GuestPlanSettings(junk_siblings=junk_siblings, huge_pages=huge_pages, **share)
    asked = SnapshotRequest(seconds, processes, connect)
    if cluster:
        placement = _of_cluster(snapshot_of(source, asked), cluster, host, settings)
    elif vcpus:
        request = GuestRequest(vcpus=vcpus, memory_bytes=memory, iothreads=iothreads)
        placement = plan_guests(snapshot_of(source, asked), [request], settings)
    else:
        placement = threads_planned(source, threads, asked).plan.placement
    _print(placement, out, as_json=as_json)


def _check_what(one_guest: bool, guests: bool, threads: bool) -> None:
    if one_guest and guests:
        raise BadInput(
            "--cluster says which guests there are: leave --vcpus out", where="affinity plan"
        )
    if not (one_guest or guests or threads):
        hint = "give --cluster FILE, --vcpus N or --process REGEX"
        raise BadInput("there is nothing to place", where="affinity plan", hint=hint)


def _of_cluster(
    snapshot: Snapshot, file: Path, name: str | None, settings: GuestPlanSettings
) -> HostPlacement:
    described = _of_map(snapshot, load_cluster(file), name, file)
    snapshot = snapshot.model_copy(update={"host": described.name})
    return plan_guests(snapshot, requests_of(described), settings_of(described, settings))


def _of_map(snapshot: Snapshot, cluster: Cluster, name: str | None, path: Path) -> Host:
    """Returns the host of the map that a snapshot is of. Raises BadInput if it has no guests."""
    host = cluster.host(cluster.name_of(name or snapshot.host)) or _only(cluster, name)
    if host is None:
        names = ", ".join(host.name for host in cluster.hosts)
        what = f"has no host {name or snapshot.host}"
        raise BadInput(what, where=str(path), hint=f"give --host, one of {names}")
    if not host.guests:
        raise BadInput(f"has no guests on {host.name}", where=str(path))
    return host


def _only(cluster: Cluster, name: str | None) -> Host | None:
    return cluster.hosts[0] if name is None and len(cluster.hosts) == 1 else None


def _print(placement: HostPlacement, out: Path | None, *, as_json: bool) -> None:
    if out:
        write_atomically(out, placement.model_dump_json(indent=2) + "\n")
        note(f"{out}: the plan; on {placement.host} `vas affinity apply {out}` applies it")
    if as_json:
        print_json(placement.model_dump(mode="json"))
    else:
        print_plan(placement)
