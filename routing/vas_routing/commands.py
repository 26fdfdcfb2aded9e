"""The commands `vas route`: print, apply and watch the path to each node."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from vas_cluster.virtio import VIRTIO_NIC
from vas_core.cli import json_option, main, note, print_json
from vas_core.errors import BadInput, ExitStatus
from vas_core.lazy import LazyGroup
from vas_core.options import dry_run
from vas_core.root import Root
from vas_core.table import print_table
from vas_routing import observe
from vas_routing.calibrate.command import calibrate
from vas_routing.daemon.command import Places, serve
from vas_routing.daemon.inputs import Inputs
from vas_routing.daemon.saved_state import read_saved_state
from vas_routing.desired import DesiredState
from vas_routing.doctor import examine, read_facts
from vas_routing.drained import read_drained, write_drained
from vas_routing.explain import address_of, ask
from vas_routing.explain import explain as explain_path
from vas_routing.links import Leg
from vas_routing.lnet import lnet_plan
from vas_routing.options import (
    RouteContext,
    RouteOptions,
    file_options,
    kept_option,
    key_option,
    links_option,
    site_options,
)
from vas_routing.plan import CurrentState, RouteChange, Thing, kind_of, plan, row_of
from vas_routing.policy import place
from vas_routing.views import lines, print_findings, words


@click.group(cls=LazyGroup)
def route() -> None:
    """Send packets for the same host over virtio, all others over SR-IOV."""


@route.command("plan")
@site_options
@links_option
@json_option
def plan_command(context: RouteContext, as_json: bool) -> None:
    """Print what would change, each step with its reason. Changes nothing.

    With --links it does not ask the kernel, so it works on any machine, and prints the whole
    desired state of the node.

    \b
    Examples: vas route plan
              vas route plan --cluster site.yaml --node vm1 --links links.json --json
    """
    links = context.links()
    desired = context.desired_state(links)
    if context.links_file:
        changes = plan(CurrentState(), desired) if desired else []
    else:
        changes = context.switch.plan(desired)
    _print(context, changes, as_json, nothing=_nothing(desired))


@route.command()
@site_options
@links_option
@dry_run()
@json_option
def apply(context: RouteContext, dry_run: bool, as_json: bool) -> None:
    """Apply the planned routes, verify them and print the changes.

    It changes only routes and rules with VAS's protocol number, and sysctls and addresses after
    their old values are in the journal. The daemon does the same whenever a path changes.

    \b
    Examples: vas route apply --dry-run
              vas route apply
    """
    desired = context.desired_state(context.links())
    changes = context.switch.plan(desired) if dry_run else context.switch.apply(desired)
    _print(context, changes, as_json, nothing=_nothing(desired))


@route.command()
@site_options
@links_option
@json_option
def verify(context: RouteContext, as_json: bool) -> int:
    """Compare the kernel with the desired state; status 3 if they differ.

    \b
    Example: vas route verify
    """
    desired = context.desired_state(context.links())
    changes = context.switch.plan(desired)
    _print(context, changes, as_json, nothing=_nothing(desired))
    return ExitStatus.DIFFERENT if changes else ExitStatus.DONE


@route.command()
@site_options
@dry_run()
@json_option
def rollback(context: RouteContext, dry_run: bool, as_json: bool) -> None:
    """Remove VAS's routes from the kernel and restore sysctls.

    Rules, proxies and addresses of VAS go too. It works after a crash, as the journal is written
    before a change. After a reboot there is nothing to do. Stop the daemon first.

    \b
    Example: vas route rollback
    """
    switch = context.switch
    changes = switch.plan(DesiredState()) if dry_run else switch.rollback()
    _print(context, changes, as_json, nothing="the kernel has nothing of VAS's")


@route.command()
@site_options
@json_option
def show(context: RouteContext, as_json: bool) -> None:
    """Show the node's paths, and VAS's routes, rules and addresses.

    \b
    Example: vas route show --json
    """
    links = context.links()
    found = context.switch.found()
    held: list[Thing] = [*found.added, *found.rules, *found.routes, *found.proxies]
    if as_json:
        rows = [{"kind": kind_of(thing), **row_of(thing)} for thing in sorted(held, key=_order)]
        data = {"node": context.node, "links": links.model_dump(mode="json"), "held": rows}
        print_json(data | {"originals": dict(found.originals)})
        return
    rows_of_links = [("sriov", links.sriov_device, "the data fabric", links.sriov)]
    rows_of_links += [
        ("virtio", links.virtio_device or VIRTIO_NIC, peer, state)
        for peer, state in links.virtio.items()
    ]
    print_table(("LEG", "DEVICE", "TO", "STATE"), rows_of_links)
    click.echo()
    print_table(("KIND", "WHAT"), [words(thing) for thing in sorted(held, key=_order)])


@route.command()
@site_options
@links_option
@json_option
@click.argument("destination")
def explain(context: RouteContext, destination: str, as_json: bool) -> int:
    """Explain which path a destination takes, and print the kernel's route for it.

    DESTINATION is a host or guest of the map, an address, or a NID. Status 3 if the kernel does
    something else. With --links the kernel is not asked.

    \b
    Examples: vas route explain oss1
              vas route explain 192.0.2.12@tcp --json
    """
    links = context.links()
    to = address_of(context.cluster, destination)
    here = place(context.cluster, context.node, links)
    found = explain_path(here, links, context.desired_state(links), destination, to)
    if context.links_file is None:
        found = replace(found, kernel=ask(to))
    if as_json:
        print_json(found.as_json())
    else:
        for line in lines(found, asked=context.links_file is None):
            click.echo(line)
    wrong = context.links_file is None and not found.agrees
    return ExitStatus.DIFFERENT if wrong else ExitStatus.DONE


@route.command()
@site_options
@click.argument("leg", type=click.Choice([leg.value for leg in Leg]))
@click.option("--undo", is_flag=True, help="Put the leg back into use.")
def drain(context: RouteContext, leg: str, undo: bool) -> None:
    """Take a leg out of use, before work on it; the other leg carries everything.

    The daemon switches at once and tells its peers; without it, run `vas route apply`. Draining
    both legs is refused.

    \b
    Examples: vas route drain sriov
              vas route drain sriov --undo

    \f
    Raises BadInput if the other leg is drained, VasError if the leg is not there.
    """
    known = read_saved_state(context.state).devices
    found = observe.legs(context.cluster, context.node, observe.devices(), known)
    if not undo:
        found.must_have(Leg(leg))
    drained = read_drained(context.state)
    left = drained - {Leg(leg)} if undo else drained | {Leg(leg)}
    if left == frozenset(Leg):
        hint = f"`vas route drain {next(iter(drained))} --undo` first"
        raise BadInput("the other leg is drained already", where=leg, hint=hint)
    write_drained(context.state, left)
    note(f"drained: {', '.join(sorted(left)) or 'none'}")


@route.command()
@site_options
@json_option
def doctor(context: RouteContext, as_json: bool) -> int:
    """Find everything that would spoil the switch, each with its fix. Changes nothing.

    Status 3 if something is wrong. Things that could not be read are listed as such, never as
    good.

    \b
    Example: vas route doctor --json
    """
    facts = read_facts(Root(), context.settings)
    findings = examine(context.cluster, context.node, facts, context.settings)
    if as_json:
        print_json([finding.as_json() for finding in findings])
    else:
        print_findings(findings)
    wrong = any(finding.ok is False for finding in findings)
    return ExitStatus.DIFFERENT if wrong else ExitStatus.DONE


@route.command()
@site_options
@json_option
def lnet(context: RouteContext, as_json: bool) -> None:
    """Print the settings with which LNet follows the switcher, for `lnetctl import`.

    tcp NIDs need none; o2ib NIDs get a second network on virtio with a UDSP priority. The latter
    follows the documented format and was not run on hardware.

    \b
    Examples: vas route lnet
              vas route lnet > vas-lnet.yaml && lnetctl import < vas-lnet.yaml
    """
    found = lnet_plan(context.cluster, context.node)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(found.as_file(), nl=False)


@route.command()
@file_options
@kept_option
@key_option
@click.option(
    "--metrics",
    "metrics_at",
    default="127.0.0.1:9213",
    show_default=True,
    metavar="ADDRESS:PORT|off",
    help="Address that answers Prometheus.",
)
def daemon(options: RouteOptions, kept: Path, key: Path, metrics_at: str) -> None:
    """Keep the routes right while paths come and go (`vas-routed`, as systemd starts it).

    It ends at SIGTERM and leaves the routes as they are. It reads map and key again when they
    change, or at SIGHUP. If a map cannot be used, it goes on (or starts) with the last good one.
    The log is JSON, one line per event.

    \b
    Example: vas-routed --cluster /etc/vas/cluster.yaml
    """

    def load() -> Inputs:
        found = options.read()
        return Inputs.of(found.node, found.cluster, found.settings, found.choices)

    serve(load, options.files.paths(), Places(options.state, kept, key), metrics_at)


route.add_command(calibrate)


def routed() -> None:
    """Runs the program `vas-routed`: `vas route daemon` with the options of the command line."""
    main(["route", "daemon", *sys.argv[1:]])


def _order(thing: Thing) -> tuple[str, str]:
    return kind_of(thing), repr(thing)


def _nothing(desired: DesiredState | None) -> str:
    return "no path is up: nothing is touched" if desired is None else "nothing to change"


def _print(
    context: RouteContext, changes: Sequence[RouteChange], as_json: bool, *, nothing: str
) -> None:
    if as_json:
        print_json({"node": context.node, "changes": [change.as_json() for change in changes]})
    elif changes:
        rows = [(change.action, *words(change.thing), change.reason) for change in changes]
        print_table(("ACTION", "KIND", "WHAT", "REASON"), rows)
    else:
        note(nothing)
