"""Finds settings of a node's network with which a switch of routes would fail, and the fix.

`read_facts` reads the machine; `examine` decides, and changes nothing.
"""

from __future__ import annotations

from itertools import chain

from vas_cluster import Cluster
from vas_routing.doctor.bridge import examine_bridge
from vas_routing.doctor.facts import NetworkFacts
from vas_routing.doctor.finding import RouteFinding, unknown
from vas_routing.doctor.firewall import examine_firewall
from vas_routing.doctor.legs import examine_legs
from vas_routing.doctor.managers import examine_managers
from vas_routing.doctor.parameters import examine_parameters
from vas_routing.doctor.reading import read_facts
from vas_routing.doctor.subject import subject
from vas_routing.doctor.tables import examine_tables
from vas_routing.doctor.vfs import examine_vfs
from vas_routing.settings import RouteSettings

__all__ = ["NetworkFacts", "RouteFinding", "examine", "read_facts"]

_CHECKS = (
    examine_legs,
    examine_bridge,
    examine_vfs,
    examine_parameters,
    examine_tables,
    examine_firewall,
    examine_managers,
)
_DEFAULTS = RouteSettings()


def examine(
    cluster: Cluster, node: str, facts: NetworkFacts, settings: RouteSettings = _DEFAULTS
) -> list[RouteFinding]:
    """Returns all findings on a host or guest of the map, good ones too. Pure.

    Raises BadInput for a node that the map does not have.
    """
    who = subject(cluster, node, facts, settings)
    unread = (
        unknown("read", what, f"could not be read: {why}", f"cat {what}   # as root")
        for what, why in sorted(facts.unread.items())
    )
    return [*chain.from_iterable(check(who) for check in _CHECKS), *unread]
