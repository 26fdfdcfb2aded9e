"""`vas guest`: a guest's domain and seed, made from the map."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from vas_cluster import Host as MapHost
from vas_cluster import default_path, parse_cluster
from vas_cluster.document import read_text
from vas_cluster.loading import load_cluster
from vas_core.cli import RealRange, json_option, note, print_json, print_table
from vas_core.errors import BadInput, ExitStatus
from vas_core.reading import read_limited
from vas_core.root import Root
from vas_core.seed import write_seed
from vas_core.xmltree import parse_xml
from vas_guest.compare import Difference, counts_from_a_start
from vas_guest.domain import to_text
from vas_guest.host import Host, Wish
from vas_guest.pool import carrying, read_pool, write_pool
from vas_guest.settings import DEFAULT, read_settings
from vas_guest.trust import Untrue, set_trust, waiting
from vas_guest.vfs import Adapter, Step, make, pool, read_adapter, steps

_path = click.Path(path_type=Path)
_connect = click.option(
    "--connect", metavar="URI", help="Where libvirt is.  [default: as virsh has it]"
)
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done; do nothing.")
_SHOWN_CHARS = 60
_MOST_XML_BYTES = 16 << 20


def _wished(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `wish` for GUEST, --cluster, --settings and --placement."""

    @click.argument("name", metavar="GUEST")
    @click.option("--cluster", "cluster_file", type=_path, help="The map.")
    @click.option(
        "--settings", type=_path, default=DEFAULT, show_default=True, help="The site's settings."
    )
    @click.option(
        "--placement", type=_path, metavar="XML", help="What `vas affinity emit` says of the guest."
    )
    @wraps(command)
    def with_wish(
        name: str, cluster_file: Path | None, settings: Path, placement: Path | None, **more: Any
    ) -> Any:
        return command(wish=_wish(name, cluster_file, settings, placement), **more)

    return with_wish


def _wish(name: str, cluster_file: Path | None, settings: Path, placement: Path | None) -> Wish:
    file = cluster_file or default_path()
    text, problems = read_text(file)
    cluster = load_cluster(file) if problems else parse_cluster(text, file)
    called = cluster.name_of(name)
    if cluster.host_by_guest(called) is None:
        known = ", ".join(guest.name for guest in cluster.guests())
        raise BadInput("is no guest of the map", where=name, hint=f"it has {known}")
    placed = (
        parse_xml(read_limited(placement, _MOST_XML_BYTES), where=str(placement))
        if placement
        else None
    )
    wish = Wish(cluster, text, cluster.guest(called), read_settings(settings), placed)
    return replace(wish, functions=read_pool(Root(), wish.host.nics.pf))


@click.group()
def guest() -> None:
    """Describe guests to libvirt and cloud-init, from the map."""


@guest.command()
@_wished
def xml(wish: Wish) -> None:
    """Print a guest's domain as libvirt's XML.

    It asks nobody: the same map, settings and placement give the same bytes.

    \b
    Example: vas guest xml vm1 --cluster site.yaml --placement vm1.xml
    """
    click.echo(to_text(wish.domain), nl=False)


@guest.command()
@_wished
@click.option("--output", type=_path, metavar="ISO", help="Write the seed's CD here.")
def seed(wish: Wish, output: Path | None) -> None:
    """Print a guest's cloud-init seed, or write its CD.

    \b
    Examples: vas guest seed vm1
              vas guest seed vm1 --output vm1.iso
    """
    if output:
        write_seed(output, wish.seed)
        return
    for name, text in wish.seed.items():
        click.echo(f"==> {name} <==\n{text}")


@guest.command()
@_wished
@_connect
@json_option
def verify(wish: Wish, connect: str | None, as_json: bool) -> int:
    """Compare a guest's definition with the map.

    Disks, pool of virtual functions, seed and domain; status 3 if something differs.

    \b
    Example: vas guest verify vm1
    """
    host = Host(connect)
    found = host.differences(wish)
    _print(wish, found, as_json, host.is_running(wish))
    return ExitStatus.DIFFERENT if found else ExitStatus.DONE


@guest.command()
@_wished
@_connect
@_dry_run
@click.option("--image", type=_path, metavar="QCOW2", help="What its first disk is made of.")
@click.option("--start", is_flag=True, help="Start it too, now and with its host.")
@click.option(
    "--wait",
    type=RealRange(min=1, max=7200),
    metavar="SECONDS",
    help="Wait until one that is started answers, by its agent.",
)
@json_option
def apply(
    wish: Wish,
    connect: str | None,
    dry_run: bool,
    image: Path | None,
    start: bool,
    wait: float | None,
    as_json: bool,
) -> None:
    """Define a guest as the map has it, and read it back.

    Disks, pool of virtual functions, seed and domain. A disk that is there is never written to,
    and a guest that runs never stopped: its new definition counts from its next start.

    \b
    Examples: vas guest apply vm1 --dry-run
              vas guest apply vm1 --image vas-guest.qcow2 --placement vm1.xml --start
              vas guest apply vm1 --start --wait 300
    """
    wish = replace(wish, image=image)
    host = Host(connect)
    if dry_run:
        host.refuse_disks(wish)
    found = host.differences(wish) if dry_run else host.apply(wish)
    ran = host.is_running(wish)
    if start and not dry_run:
        host.start(wish)
        if wait and not ran:
            host.await_agent(wish, wait)
    _print(wish, found, as_json, ran)
    if ran and counts_from_a_start(found) and not dry_run:
        note(f"{wish.guest.name} runs: what was changed counts from its next start")


@guest.command()
@_wished
@_connect
@click.option(
    "--timeout",
    type=RealRange(min=1, max=7200),
    metavar="SECONDS",
    default=300,
    show_default=True,
    help="Wait until it has shut down.",
)
@click.option(
    "--wait", type=RealRange(min=1, max=7200), metavar="SECONDS", help="Wait until it answers."
)
def restart(wish: Wish, connect: str | None, timeout: float, wait: float | None) -> None:
    """Shut a guest down and start it with its present definition.

    Its own reboot would keep the old one. One that does not shut down is left running.

    \b
    Example: vas guest restart vm1 --wait 300
    """
    host = Host(connect)
    host.restart(wish, timeout)
    if wait:
        host.await_agent(wish, wait)
    note(f"{wish.guest.name} has its present definition")


@guest.command()
@_wished
@_connect
@_dry_run
@json_option
def remove(wish: Wish, connect: str | None, dry_run: bool, as_json: bool) -> None:
    """Forget a guest that is shut down, and its seed; its disks stay.

    \b
    Example: vas guest remove vm1
    """
    host = Host(connect)
    there = host.is_there(wish) if dry_run else host.remove(wish)
    if as_json:
        print_json({"guest": wish.guest.name, "removed": there})
    elif not there:
        note(f"{wish.guest.name} is not defined")
    else:
        words = "would be forgotten" if dry_run else "is forgotten"
        note(f"{wish.guest.name} {words}; its disks stay")


@guest.command()
@click.option("--cluster", "cluster_file", type=_path, help="The map.")
@click.option("--node", help="Which storage server.  [default: this machine's name]")
@click.option(
    "--settings", type=_path, default=DEFAULT, show_default=True, help="The site's settings."
)
@click.option(
    "--interrupt", is_flag=True, help="Make them though the adapter's own interface is up."
)
@_dry_run
@json_option
def vfs(
    cluster_file: Path | None,
    node: str | None,
    settings: Path,
    interrupt: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make a virtual function for each guest of this server.

    Those that are there stay: none is ever taken from a guest, and a number that is large enough
    is left as it is. What was written is read back, and which of them are the guests' is kept.

    \b
    Examples: vas guest vfs --dry-run
              vas guest vfs
    """
    host = _host(cluster_file, node)
    pf, wished = host.nics.pf, len(host.guests)
    found = read_adapter(Root(), pf)
    if dry_run:
        todo = steps(found, wished)
    else:
        todo = make(Root(), pf, wished, interrupt=interrupt)
        found = read_adapter(Root(), pf)
        write_pool(Root(), pf, pool(found, wished, _ours(found, host)))
    chosen = read_pool(Root(), pf)
    trust = set_trust(found, chosen, trust=read_settings(settings).trust, dry_run=dry_run)
    if as_json:
        made = {"steps": [vars(step) for step in todo], "functions": chosen, "trust": vars(trust)}
        print_json({"pf": pf, "wished": wished, "interrupts": bool(todo) and found.up} | made)
    else:
        _print_functions(pf, todo, trust)


def _print_functions(pf: str, todo: Sequence[Step], trust: Untrue) -> None:
    rows = [(step.file, step.value, step.why) for step in todo]
    why = "as `trust` of the settings says"
    rows += [(f"trust of virtual function {number}", "changed", why) for number in trust.free]
    if rows:
        print_table(("WHAT", "VALUE", "WHY"), rows)
    else:
        note(f"{pf} has enough virtual functions for its guests")
    if later := waiting(trust):
        note(later)


def _ours(found: Adapter, host: MapHost) -> set[str]:
    """The VFs that have been VAS's before."""
    kept = set(read_pool(Root(), found.pf))
    return kept | set(carrying(found, [guest.macs.vf for guest in host.guests]))


def _host(cluster_file: Path | None, node: str | None) -> MapHost:
    cluster = load_cluster(cluster_file or default_path())
    name = cluster.name_of(node or socket.gethostname())
    host = cluster.host(name)
    if host is None:
        known = ", ".join(one.name for one in cluster.hosts)
        raise BadInput("is no storage server of the map", where=name, hint=f"it has {known}")
    return host


def _print(wish: Wish, found: Sequence[Difference], as_json: bool, running: bool) -> None:
    if as_json:
        rows = [vars(one) for one in found]
        waits = {"running": running, "restart": running and counts_from_a_start(found)}
        print_json({"guest": wish.guest.name, "differences": rows} | waits)
    elif found:
        table = ((one.where, _shown(one.wished), _shown(one.found)) for one in found)
        print_table(("WHAT", "WISHED", "FOUND"), table)
    else:
        note(f"{wish.guest.name} is defined as the map has it")


def _shown(value: str | None) -> str:
    if value is None:
        return "-"
    line = value.replace("\n", " ")
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 3] + "..."
