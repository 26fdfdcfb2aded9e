"""Lists the cases of `vas route calibrate` and their order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput
from vas_routing.calibrate.paper import TABLE_4_1_GBPS, NodeRelation
from vas_routing.links import Leg


@dataclass(frozen=True)
class CalibrationCase:
    """A row of the paper's Table 4.1: packets from one node of the map to another, by one leg."""

    kind: NodeRelation
    leg: Leg
    source: str
    destination: str

    @property
    def name(self) -> str:
        """The name of the case in the paper's table."""
        return f"VM to {self.kind}"


@dataclass(frozen=True)
class CalibrationRound:
    """Cases that are measured one after another, all by one leg."""

    number: int
    leg: Leg
    cases: tuple[CalibrationCase, ...]

    @property
    def name(self) -> str:
        """The name of the round, for the display of progress."""
        return f"round {self.number}, {self.leg}"


def six_cases(cluster: Cluster, source: str) -> list[CalibrationCase]:
    """Returns the six cases from a guest; the other host is the map's next one that has a guest.

    Raises BadInput where there is no such guest or host.
    """
    home = cluster.host_by_guest(source)
    if home is None:
        raise BadInput("is not a guest of the map", where=f"--node {source}", hint="run it on one")
    other = _other(cluster, home)
    destinations = {
        NodeRelation.OWN_HOST: home.name,
        NodeRelation.OTHER_HOST: other.name,
        NodeRelation.OTHER_VM: other.guests[0].name,
    }
    return [CalibrationCase(kind, leg, source, destinations[kind]) for kind, leg in TABLE_4_1_GBPS]


def _other(cluster: Cluster, home: Host) -> Host:
    at = cluster.hosts.index(home)
    for host in (*cluster.hosts[at + 1 :], *cluster.hosts[:at]):
        if host.guests:
            return host
    raise BadInput("no other host has a guest", where="hosts", hint="two of the cases need one")


def rounds(cases: Sequence[CalibrationCase], runs: int) -> Iterator[CalibrationRound]:
    """Yields rounds with each case once per run.

    The order is reversed with each run, so that a drift meanwhile (the machine's heat, its other
    work) favours no leg. SR-IOV comes first: so the other nodes have the guest's MAC in their
    caches when its host announces another. A node that asked for it while the guest's VF is up, but
    not in use, would be answered by both.
    """
    for number in range(1, runs + 1):
        step = -1 if number % 2 else 1
        for leg in list(Leg)[::step]:
            mine = [case for case in cases if case.leg is leg]
            yield CalibrationRound(number, leg, tuple(mine[::-step]))
