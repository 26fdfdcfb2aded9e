"""What a node does with the probes that it hears, by a wire that only keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from vas_routing.daemon.detector import Detector, Timing
from vas_routing.daemon.keys import Keys
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.prober import Prober
from vas_routing.daemon.refusals import Refusals
from vas_routing.daemon.sockets import LegSockets
from vas_routing.daemon.trust import HeardProbe, Refusal, Trust
from vas_routing.links import Leg, PathState

KEYS = Keys((bytes(range(32)),))
UP = {"sriov": PathState.UP, "virtio": PathState.UP}
DOWN = {"sriov": PathState.DOWN, "virtio": PathState.DOWN}
ADDRESS = "10.10.0.111"


class Wires:
    """Both legs: the datagrams that are about to be heard by each, and those that were sent."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.sent: list[bytes] = []

    def get(self, _leg: Leg) -> Wires:
        return self

    def received(self) -> Iterator[tuple[str, bytes]]:
        while self.heard:
            yield ADDRESS, self.heard.pop(0)

    def send(self, data: bytes, _to: object) -> None:
        self.sent.append(data)


class Host:
    """The prober of oss1, and a guest that is its peer."""

    def __init__(self) -> None:
        self.wires, self.metrics = Wires(), RouteMetrics()
        self.detector = Detector(Timing(0.02, 3, 1.0), ("vm1",), frozenset())
        self.guest = Trust("vm1", KEYS, 1.0)
        names = {leg: {ADDRESS: "vm1"} for leg in Leg}
        self.prober = Prober(
            self.detector, {}, names, Trust("oss1", KEYS, 1.0), cast(LegSockets, self.wires),
            Refusals(self.metrics), lambda: PathState.UP, lambda *_: None,
        )  # fmt: skip

    def hears(self, leg: Leg, data: bytes, now: float = 1.0) -> None:
        self.wires.heard.append(data)
        self.prober.receive(leg, now)

    def met(self) -> None:
        """Each has heard the other, so that the guest's word counts."""
        asked = self.asks()
        assert isinstance(asked, HeardProbe)
        answer = self.guest.answer(Leg.VIRTIO, "oss1", asked.probe, **UP)
        self.prober.trust.verify(Leg.VIRTIO, "vm1", answer)
        self.asks()

    def asks(self) -> HeardProbe | Refusal:
        """Asks the guest; returns what the guest heard."""
        asked = self.prober.trust.ask(Leg.VIRTIO, "vm1", **UP)
        return self.guest.verify(Leg.VIRTIO, "oss1", asked)

    def refused(self, reason: str) -> float | None:
        labels = {"reason": reason}
        return self.metrics.registry.get_sample_value("vas_route_probes_refused_total", labels)


def test_S2_an_older_word_by_the_slower_leg_changes_no_path() -> None:
    host = Host()
    host.met()
    slow = host.guest.ask(Leg.SRIOV, "oss1", **DOWN)
    fast = host.guest.ask(Leg.VIRTIO, "oss1", **UP)
    host.hears(Leg.VIRTIO, fast)
    host.hears(Leg.SRIOV, slow)
    assert host.detector.peers_sriov == {"vm1": PathState.UP}
    assert len(host.wires.sent) == 2, "both are answered: both legs work"


def test_S2_what_nobody_signed_is_answered_counted_and_not_believed() -> None:
    host = Host()
    host.met()
    unsigned = Trust("vm1", Keys(), 1.0)
    host.hears(Leg.VIRTIO, unsigned.ask(Leg.VIRTIO, "oss1", **DOWN))
    assert host.detector.peers_sriov == {} and host.detector.heard == frozenset()
    assert len(host.wires.sent) == 1
    assert host.refused("unsigned") == 1


def test_S2_an_answer_that_somebody_kept_keeps_no_dead_path_alive() -> None:
    host = Host()
    asked = host.asks()
    assert isinstance(asked, HeardProbe)
    answer = host.guest.answer(Leg.VIRTIO, "oss1", asked.probe, **UP)
    for now in (1.0, 5.0):
        host.hears(Leg.VIRTIO, answer, now)
    assert host.detector.silence("vm1", 5.0) == 4.0
    assert host.refused("stale") == 1


def test_S2_a_word_of_the_peer_is_taken() -> None:
    """So that the others are refused for what they are."""
    host = Host()
    host.met()
    host.hears(Leg.VIRTIO, host.guest.ask(Leg.VIRTIO, "oss1", **DOWN))
    assert host.detector.peers_sriov == {"vm1": PathState.DOWN}
