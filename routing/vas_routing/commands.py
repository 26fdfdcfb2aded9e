"""`vas route`: which path to which node, and keeping it true."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from vas_cluster.virtio import VIRTIO_NIC
from vas_core.cli import json_option, main, note, print_json, print_table
from vas_core.errors import BadInput, ExitStatus
from vas_core.root import Root
from vas_routing import observe
from vas_routing.calibrate.command import calibrate
from vas_routing.daemon.command import Places, serve
from vas_routing.daemon.inputs import Inputs
from vas_routing.daemon.memory import read_memory
from vas_routing.doctor import examine, read_facts
from vas_routing.drained import read_drained, write_drained
from vas_routing.explain import address_of, ask
from vas_routing.explain import explain as explain_path
from vas_routing.links import Leg
from vas_routing.lnet import lnet_plan
from vas_routing.options import (
    Asked,
    Given,
    asked_options,
    dry_run_option,
    kept_option,
    key_option,
    links_option,
    site_options,
)
from vas_routing.plan import Change, Found, Thing, kind_of, plan, row_of
from vas_routing.policy import place
from vas_routing.views import lines, print_findings, words
from vas_routing.wish import Wish


@click.group()
def route() -> None:
    """Send what is for the own host over virtio, everything else over SR-IOV."""


@route.command("plan")
@site_options
@links_option
@json_option
def plan_command(given: Given, as_json: bool) -> None:
    """Print what would change, each step with its reason. Changes nothing.

    With --links it is pure: it asks no kernel, works on any machine, and prints all that the
    node is to have.

    \b
    Examples: vas route plan
              vas route plan --cluster site.yaml --node vm1 --links links.json --json
    """
    links = given.links()
    wished = given.wish(links)
    if given.links_file:
        changes = plan(Found(), wished) if wished else []
    else:
        changes = given.switch.plan(wished)
    _print(given, changes, as_json, nothing=_nothing(wished))


@route.command()
@site_options
@links_option
@dry_run_option
@json_option
def apply(given: Given, dry_run: bool, as_json: bool) -> None:
    """Make it true, read it back, and print what was changed.

    Only what carries VAS's protocol number, and sysctls whose old values are in the journal, is
    ever touched. The daemon does the same whenever a path changes.

    \b
    Examples: vas route apply --dry-run
              vas route apply
    """
    wished = given.wish(given.links())
    changes = given.switch.plan(wished) if dry_run else given.switch.apply(wished)
    _print(given, changes, as_json, nothing=_nothing(wished))


@route.command()
@site_options
@links_option
@json_option
def verify(given: Given, as_json: bool) -> int:
    """Compare the kernel with what is wished; status 3 if they differ.

    \b
    Example: vas route verify
    """
    wished = given.wish(given.links())
    changes = given.switch.plan(wished)
    _print(given, changes, as_json, nothing=_nothing(wished))
    return ExitStatus.DIFFERENT if changes else ExitStatus.DONE


@route.command()
@site_options
@dry_run_option
@json_option
def rollback(given: Given, dry_run: bool, as_json: bool) -> None:
    """Take all of VAS's away and give sysctls the values they had.

    Works after a crash, as the journal is written before a change. After a reboot nothing of
    VAS's is in the kernel, and nothing is to be done. Stop the daemon first.

    \b
    Example: vas route rollback
    """
    switch = given.switch
    changes = switch.plan(Wish()) if dry_run else switch.rollback()
    _print(given, changes, as_json, nothing="nothing of VAS's is there")


@route.command()
@site_options
@json_option
def show(given: Given, as_json: bool) -> None:
    """Show the node's paths, and what of VAS's is in the kernel.

    \b
    Example: vas route show --json
    """
    links = given.links()
    found = given.switch.found()
    held: list[Thing] = [*found.added, *found.rules, *found.routes, *found.proxies]
    if as_json:
        rows = [{"kind": kind_of(thing), **row_of(thing)} for thing in sorted(held, key=repr)]
        data = {"node": given.node, "links": links.model_dump(mode="json"), "held": rows}
        print_json(data | {"originals": dict(found.originals)})
        return
    rows_of_links = [("sriov", links.sriov_device, "the data fabric", links.sriov)]
    rows_of_links += [
        ("virtio", links.virtio_device or VIRTIO_NIC, peer, state)
        for peer, state in links.virtio.items()
    ]
    print_table(("LEG", "DEVICE", "TO", "STATE"), rows_of_links)
    click.echo()
    print_table(("KIND", "WHAT"), [words(thing) for thing in sorted(held, key=repr)])


@route.command()
@site_options
@links_option
@json_option
@click.argument("destination")
def explain(given: Given, destination: str, as_json: bool) -> int:
    """Say which path a destination takes and why, and what the kernel answers.

    DESTINATION is a host or guest of the map, an address, or a NID. Status 3 if the kernel does
    something else. With --links the kernel is not asked.

    \b
    Examples: vas route explain oss1
              vas route explain 10.0.0.12@tcp --json
    """
    links = given.links()
    to = address_of(given.cluster, destination)
    here = place(given.cluster, given.node, links)
    found = explain_path(here, links, given.wish(links), destination, to)
    if given.links_file is None:
        found = replace(found, kernel=ask(to))
    if as_json:
        print_json(found.as_json())
    else:
        for line in lines(found, asked=given.links_file is None):
            click.echo(line)
    wrong = given.links_file is None and not found.agrees
    return ExitStatus.DIFFERENT if wrong else ExitStatus.DONE


@route.command()
@site_options
@click.argument("leg", type=click.Choice([leg.value for leg in Leg]))
@click.option("--undo", is_flag=True, help="Use it again.")
def drain(given: Given, leg: str, undo: bool) -> None:
    """Take a leg out of use, before work on it; the other one carries all.

    The daemon does so at once and tells its peers; without it, `vas route apply` does.

    \b
    Examples: vas route drain sriov
              vas route drain sriov --undo
    """
    known = read_memory(given.state).devices
    found = observe.legs(given.cluster, given.node, observe.devices(), known)
    if not undo:
        found.must_have(Leg(leg))
    drained = read_drained(given.state)
    left = drained - {Leg(leg)} if undo else drained | {Leg(leg)}
    if left == frozenset(Leg):
        hint = f"`vas route drain {next(iter(drained))} --undo` first"
        raise BadInput("the other leg is drained already", where=leg, hint=hint)
    write_drained(given.state, left)
    note(f"drained: {', '.join(sorted(left)) or 'none'}")


@route.command()
@site_options
@json_option
def doctor(given: Given, as_json: bool) -> int:
    """Look for what would spoil the switch, each with its fix. Changes nothing.

    Status 3 if something is wrong. What could not be read is said, never taken for good.

    \b
    Example: vas route doctor --json
    """
    facts = read_facts(Root(), given.settings)
    findings = examine(given.cluster, given.node, facts, given.settings)
    if as_json:
        print_json([finding.as_json() for finding in findings])
    else:
        print_findings(findings)
    wrong = any(finding.ok is False for finding in findings)
    return ExitStatus.DIFFERENT if wrong else ExitStatus.DONE


@route.command()
@site_options
@json_option
def lnet(given: Given, as_json: bool) -> None:
    """Say what the switch means for LNet here, and print what `lnetctl import` needs.

    For tcp NIDs nothing; for o2ib a second network on virtio with a UDSP priority. That was made
    from the format, and not run on hardware.

    \b
    Examples: vas route lnet
              vas route lnet > vas-lnet.yaml && lnetctl import < vas-lnet.yaml
    """
    found = lnet_plan(given.cluster, given.node)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(found.as_file(), nl=False)


@route.command()
@asked_options
@kept_option
@key_option
@click.option(
    "--metrics",
    "metrics_at",
    default="127.0.0.1:9213",
    show_default=True,
    metavar="ADDRESS:PORT|off",
    help="Where Prometheus asks.",
)
def daemon(asked: Asked, kept: Path, key: Path, metrics_at: str) -> None:
    """Keep the routes right while paths come and go (`vas-routed`, as systemd starts it).

    Ends at SIGTERM and leaves the routes as they are; reads map and key again when they changed,
    or at SIGHUP. With a map that cannot be used it goes on, or starts, with the last good one. The
    log is JSON, a line an event.

    \b
    Example: vas-routed --cluster /etc/vas/cluster.yaml
    """

    def load() -> Inputs:
        found = asked.read()
        return Inputs.of(found.node, found.cluster, found.settings, found.choices)

    serve(load, asked.files.paths(), Places(asked.state, kept, key), metrics_at)


route.add_command(calibrate)


def routed() -> None:
    """The program `vas-routed`."""
    main(["route", "daemon", *sys.argv[1:]])


def _nothing(wished: Wish | None) -> str:
    return "no path is up: nothing is touched" if wished is None else "nothing to change"


def _print(given: Given, changes: Sequence[Change], as_json: bool, *, nothing: str) -> None:
    if as_json:
        print_json({"node": given.node, "changes": [change.as_json() for change in changes]})
    elif changes:
        rows = [(change.action, *words(change.thing), change.reason) for change in changes]
        print_table(("ACTION", "KIND", "WHAT", "REASON"), rows)
    else:
        note(nothing)
