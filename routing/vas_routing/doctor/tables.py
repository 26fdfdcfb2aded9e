"""Checks policy rules and routes of others in the places where VAS puts its own."""

from __future__ import annotations

from collections.abc import Iterator

from vas_routing.doctor.facts import SeenRoute, SeenRule
from vas_routing.doctor.finding import RouteFinding, bad, good
from vas_routing.doctor.subject import Subject
from vas_routing.settings import MAIN_TABLE

_LOCAL_TABLE = 255


def examine_tables(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on rules and routes, for the IP version of the data fabric."""
    yield from _in_front(who)
    yield from _table(who)
    yield from _protocol(who)
    yield _lnet(who)


def _in_front(who: Subject) -> Iterator[RouteFinding]:
    """The rules that are asked before VAS's. They are in the kernel's order; where VAS's is not
    there yet, it will come after those of its priority."""
    ours = who.settings
    of_version = [rule for rule in who.facts.rules if rule.version == who.version]
    until = (at for at, rule in enumerate(of_version) if _is_ours(who, rule))
    asked = of_version[: next(until, len(of_version))]
    front = [
        rule
        for rule in asked
        if rule.priority <= ours.rule_priority and rule.table != _LOCAL_TABLE and not rule.l3mdev
    ]
    if not front:
        yield good("rule-order", f"rule {ours.rule_priority}", "no rule of others is in front")
    for rule in front:
        whose = f"for what comes from {rule.source} " if rule.source else ""
        what = f"{whose}table {rule.table} is looked up before VAS's rule at {ours.rule_priority}: "
        what += "what is found there is never switched"
        where = f"rule {rule.priority}"
        fix = f"ip -{rule.version} rule del pref {rule.priority} table {rule.table}"
        fix += f"   # or give VAS a `rule_priority` below {rule.priority}"
        yield bad("rule-order", where, what, fix)


def _is_ours(who: Subject, rule: SeenRule) -> bool:
    mine = who.settings
    return rule.table == mine.table and rule.protocol == mine.protocol


def _table(who: Subject) -> Iterator[RouteFinding]:
    table, protocol = who.settings.table, who.settings.protocol
    rules = [r for r in who.facts.rules if r.table == table and r.protocol != protocol]
    routes = [r for r in who.facts.routes if r.table == table and r.protocol != protocol]
    where = f"table {table}"
    if not rules and not routes:
        yield good("table", where, "is used by nobody else")
    for rule in rules:
        what = f"a rule of another program (protocol {rule.protocol}, priority {rule.priority}) "
        what += "sends packets to it"
        fix = f"ip -{rule.version} rule del pref {rule.priority} table {table}"
        yield bad("table", where, what, f"{fix}   # or give VAS another `table`")
    for route in routes:
        what = f"has {route.destination} by {route.device} of another program (protocol "
        what += f"{route.protocol}): VAS's rule sends packets there, and VAS does not remove it"
        yield bad("table", where, what, f"{_delete(route)}   # or give VAS another `table`")


def _protocol(who: Subject) -> Iterator[RouteFinding]:
    """Things that carry VAS's protocol number are VAS's, and are removed where they are not
    desired."""
    number = who.settings.protocol
    wrong = [r for r in who.facts.routes if r.protocol == number and not _is_plausible(who, r)]
    if not wrong:
        yield good("protocol", f"protocol {number}", "is carried by VAS's routes alone")
    for route in wrong:
        what = f"{route.destination} by {route.device} in table {route.table} carries it, and is "
        what += "not of VAS's kind: VAS will remove it"
        fix = f"{_delete(route)}   # or give VAS another `protocol`"
        yield bad("protocol", f"protocol {number}", what, fix)


def _is_plausible(who: Subject, route: SeenRoute) -> bool:
    if route.device != who.virtio_name:
        return False
    fallback = route.table == MAIN_TABLE and route.metric == who.settings.fallback_metric
    return route.table == who.settings.table or fallback


def _lnet(who: Subject) -> RouteFinding:
    """A rule without a priority gets one less than the first after the local table's, VAS's; but
    it comes behind one at 0."""
    skips = who.facts.skip_mr_route_setup
    if skips is None:
        return good("lnet-rules", "ksocklnd", "is not loaded")
    if who.settings.rule_priority == 0:
        return good("lnet-rules", "ksocklnd", "what rules it may add come behind VAS's")
    if skips != "0":
        return good("lnet-rules", "ksocklnd", "adds no rules of its own")
    what = "when it is loaded, Lustre's ksocklnd-config adds a rule for each address, without a "
    what += "priority: after VAS's rule it comes to stand in front of it, and LNet is not switched"
    fix = "# /etc/modprobe.d/vas-lnet.conf\noptions ksocklnd skip_mr_route_setup=1\n"
    fix += "# then: lustre_rmmod and load it again, or reboot; rules that it has made stay until "
    fix += "then\n# or give VAS the `rule_priority` 0"
    return bad("lnet-rules", "ksocklnd", what, fix)


def _delete(route: SeenRoute) -> str:
    metric = f" metric {route.metric}" if route.metric else ""
    return (
        f"ip -{route.version} route del {route.destination} dev {route.device} "
        f"table {route.table} proto {route.protocol}{metric}"
    )
