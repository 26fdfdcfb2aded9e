"""`vas affinity plan`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from vas_affinity.cpulist import format_cpulist
from vas_affinity.guest_plan import (
    GuestRequest,
    GuestSettings,
    plan_guests,
    requests_of,
    settings_of,
)
from vas_affinity.options import (
    connect_option,
    from_option,
    process_option,
    seconds_option,
    snapshot_of,
)
from vas_affinity.placement import Pin, Placement, Target
from vas_affinity.plan.options import ThreadOptions, thread_options, threads_planned
from vas_affinity.reading import Asked
from vas_affinity.snapshot import Snapshot
from vas_cluster import Cluster, Host, load_cluster
from vas_core.cli import RealRange, SizeType, json_option, note, print_json, print_table
from vas_core.errors import BadInput
from vas_core.files import write_atomically

_FILE = click.Path(path_type=Path)
_MEMORY = SizeType(least=1 << 20)


@click.command()
@from_option
@click.option("--cluster", type=_FILE, help="Place the guests of the host in this map.")
@click.option("--host", metavar="NAME", help="The map's host, if it is not named as this one.")
@click.option("--vcpus", type=click.IntRange(1, 1024), help="Place one guest of so many vCPUs.")
@click.option("--memory", type=_MEMORY, help="Of that guest: 6GiB; 1GiB a vCPU if not given.")
@click.option("--iothreads", type=click.IntRange(0, 16), default=1, help="Of that guest: 1.")
@click.option("--oss-share", type=RealRange(0, 0.9), help="Cores the OSS keeps: 0.25.")
@click.option("--junk-siblings", is_flag=True, help="Leave siblings of vCPUs' cores without work.")
@click.option(
    "--huge-pages/--no-huge-pages", default=True, help="Whether guests' memory is in huge pages."
)
@process_option
@seconds_option
@connect_option
@thread_options
@click.option("--out", type=_FILE, help="Write the plan to this file too.")
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
    **options: Any,
) -> None:
    """Plan which CPU each vCPU, I/O thread or thread is to have.

    For guests (--cluster or --vcpus) or for threads (--process, or the threads of a snapshot given
    by --from). It changes nothing: `vas affinity apply` does. Why a thread is where it is stands
    beside it; `vas affinity explain` has the score.

    \b
    Examples: vas affinity plan --vcpus 8 --memory 16GiB --out plan.json
              vas affinity plan --from oss1.tar.bz2 --cluster cluster.yaml --host oss1 --json
              vas affinity plan --process ll_ost_io --process NodeManager --graph graph.json
              vas affinity plan --from oss1.json --policy slides
    """
    if vcpus is not None and cluster:
        raise BadInput("--cluster says which guests there are: leave --vcpus out", where="plan")
    share = {} if oss_share is None else {"oss_share": oss_share}
    settings = GuestSettings(junk_siblings=junk_siblings, huge_pages=huge_pages, **share)
    asked = Asked(seconds, processes, connect)
    if cluster:
        placement = _of_cluster(snapshot_of(source, asked), cluster, host, settings)
    elif vcpus:
        request = GuestRequest(vcpus=vcpus, memory_bytes=memory, iothreads=iothreads)
        placement = plan_guests(snapshot_of(source, asked), [request], settings)
    elif processes or source:
        chosen = ThreadOptions(**options)
        placement = threads_planned(source, chosen, asked).plan.placement
    else:
        hint = "give --cluster FILE, --vcpus N or --process REGEX"
        raise BadInput("there is nothing to place", where="plan", hint=hint)
    _give(placement, out, as_json=as_json)


def _of_cluster(
    snapshot: Snapshot, file: Path, name: str | None, settings: GuestSettings
) -> Placement:
    described = _of_map(snapshot, load_cluster(file), name, file)
    snapshot = snapshot.model_copy(update={"host": described.name})
    return plan_guests(snapshot, requests_of(described), settings_of(described, settings))


def _of_map(snapshot: Snapshot, cluster: Cluster, name: str | None, path: Path) -> Host:
    """The map's host that a snapshot is of, which has guests."""
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


def _give(placement: Placement, out: Path | None, *, as_json: bool) -> None:
    value = placement.model_dump(mode="json")
    if out:
        write_atomically(out, placement.model_dump_json(indent=2) + "\n")
        note(f"{out}: the plan; make it true with `vas affinity apply {out}`")
    if as_json:
        print_json(value)
        return
    print_table(("GUEST", "WHAT", "NAME", "CPUS", "WHY"), map(_row, _gathered(placement.pins)))
    by_role: dict[str, list[int]] = {}
    for cpu, role in sorted(placement.roles.items()):
        by_role.setdefault(role.value, []).append(cpu)
    click.echo("")
    print_table(("ROLE", "CPUS"), [(role, format_cpulist(by_role[role])) for role in by_role])
    if placement.score is not None:
        click.echo(f"\nscore {placement.score:.2f} (lower is better)")
    for line in placement.notes:
        note(f"note: {line}")


def _gathered(pins: Iterable[Pin]) -> Iterator[list[Pin]]:
    """Each pin; interrupts next to each other with one reason, as a device has hundreds, as one."""
    together = groupby(pins, lambda pin: (pin.target is Target.INTERRUPT, pin.reason))
    for (interrupt, _), group in together:
        if interrupt:
            yield list(group)
        else:
            yield from ([pin] for pin in group)


def _row(pins: list[Pin]) -> tuple[str, ...]:
    first = pins[0]
    name = first.name if len(pins) == 1 else format_cpulist(int(pin.name) for pin in pins)
    cpus = format_cpulist(cpu for pin in pins for cpu in pin.cpus)
    return (first.guest or "", first.target.value, name, cpus, first.reason)
