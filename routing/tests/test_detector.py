"""The detector: what makes a path dead, and when it is trusted again."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vas_routing.daemon.detector import Detector, SwitchCause, Timing
from vas_routing.links import Leg, PathState

TIMING = Timing(interval=0.02, misses=3, hold_down=1.0)
EVERYONE = ("oss1", "oss2")


def guest(*, hold_down: float = 1.0) -> Detector:
    """vm1 on oss1; oss2 answers by SR-IOV too."""
    timing = Timing(TIMING.interval, TIMING.misses, hold_down)
    return Detector(timing, ("oss1",), frozenset(EVERYONE))


def run(
    detector: Detector, begin: float, end: float, *, deaf: frozenset[tuple[Leg, str]] = frozenset()
) -> float:
    """Probes are answered from begin to end, but by those who are deaf; returns the end."""
    now = begin
    while now < end:
        for leg, node in ((Leg.VIRTIO, "oss1"), (Leg.SRIOV, "oss1"), (Leg.SRIOV, "oss2")):
            if (leg, node) not in deaf:
                detector.answered(leg, node, now)
        detector.evaluate(now)
        now += TIMING.interval
    return now


VIRTIO = frozenset({(Leg.VIRTIO, "oss1")})
SRIOV = frozenset({(Leg.SRIOV, "oss1"), (Leg.SRIOV, "oss2")})


def test_silence_by_one_leg_while_the_other_answers() -> None:
    detector = guest()
    now = run(detector, run(detector, 0, 1), 1.2, deaf=VIRTIO)
    assert (detector.path("oss1").state, detector.path("oss1").cause) == (
        PathState.DOWN,
        SwitchCause.SILENCE,
    )
    run(detector, now, now + 1.5)
    assert detector.path("oss1").state is PathState.UP
    run(detector, now + 1.5, now + 1.8, deaf=SRIOV)
    assert detector.path(None).state is PathState.DOWN


def test_a_peer_that_is_silent_by_both_legs_has_no_daemon() -> None:
    detector = guest()
    both = VIRTIO | {(Leg.SRIOV, "oss1")}
    now = run(detector, run(detector, 0, 1), 3, deaf=both)
    assert detector.path("oss1").state is PathState.UP
    detector.answered(Leg.SRIOV, "oss1", now)  # it is back, by this leg first
    assert detector.evaluate(now) == []


def test_one_that_stood_still_condemns_nobody() -> None:
    detector = guest()
    run(detector, 0, 1)
    assert detector.evaluate(60) == []
    detector.answered(Leg.SRIOV, "oss2", 60)
    assert detector.evaluate(60) == []


def test_who_never_answered_is_not_silent() -> None:
    detector = guest()
    run(detector, 0, 3, deaf=VIRTIO)
    assert detector.path("oss1").state is PathState.UP


def test_a_host_is_not_blamed_for_its_guests_vf() -> None:
    host = Detector(TIMING, ("vm1",), frozenset({"oss2"}))
    for step in range(100):
        now = step * TIMING.interval
        host.answered(Leg.VIRTIO, "vm1", now)
        if step < 20:
            host.answered(Leg.SRIOV, "vm1", now)
        host.evaluate(now)
    assert host.path(None).state is PathState.UP


def test_an_earlier_daemons_dead_path_stays_dead_until_it_answers() -> None:
    detector = guest()
    detector.heard_before([(Leg.VIRTIO, "oss1"), (Leg.SRIOV, "oss1")])
    detector.path("oss1").state = PathState.DOWN
    run(detector, 0, 3, deaf=VIRTIO)
    assert detector.path("oss1").state is PathState.DOWN


def test_silence_before_the_start_is_nobodys() -> None:
    """One leg's first answers come later than the other's: that alone is no dead path."""
    detector = guest()
    detector.started = 0.24
    detector.heard_before([(Leg.SRIOV, "oss1"), (Leg.SRIOV, "oss2"), (Leg.VIRTIO, "oss1")])
    now = run(detector, 0, 0.28, deaf=SRIOV)
    assert detector.path(None).state is PathState.UP
    run(detector, now, now + 0.1, deaf=SRIOV)
    assert detector.path(None).state is PathState.DOWN, "it is silent after the start too"


def test_the_word_of_a_peer_and_that_it_expires() -> None:
    detector = guest(hold_down=0)
    run(detector, 0, 1)
    detector.told("oss1", sriov=PathState.UP, virtio=PathState.DOWN, now=1)
    assert detector.evaluate(1) == ["oss1"]
    assert detector.evidence("oss1", 1) is PathState.UP, (
        "its word is not ours: both would wait forever"
    )
    run(detector, 1, 1 + 3 * TIMING.detect)
    assert detector.path("oss1").state is PathState.UP


def test_a_drained_leg_is_down_and_peers_are_told() -> None:
    detector = guest()
    run(detector, 0, 1)
    detector.drained = frozenset({Leg.VIRTIO})
    detector.evaluate(1)
    assert detector.path("oss1").cause is SwitchCause.DRAINED
    assert detector.evidence("oss1", 1) is PathState.DOWN


@given(st.lists(st.booleans(), min_size=10, max_size=200))
def test_at_most_one_switch_back_in_a_hold_down(carriers: list[bool]) -> None:
    """Whatever a carrier does ten times a second."""
    detector, now, ups = guest(), 0.0, []
    for carrier in carriers:
        detector.carrier[Leg.VIRTIO] = carrier
        end = now + 0.1
        while now < end:
            detector.answered(Leg.VIRTIO, "oss1", now)
            before = detector.path("oss1").state
            detector.evaluate(now)
            if before is PathState.DOWN and detector.path("oss1").state is PathState.UP:
                ups.append(now)
            now += TIMING.interval
    assert all(b - a >= TIMING.hold_down for a, b in pairwise(ups))


def test_S2_a_peer_that_says_up_and_down_in_turn_is_down_for_the_hold_down() -> None:
    """It would make its host announce its address, and take that back, with each word."""
    detector = guest()
    detector.told("oss1", sriov=PathState.DOWN, virtio=PathState.UP, now=10)
    changes, was = 0, PathState.DOWN
    for step in range(1, 200):
        state = PathState.UP if step % 2 else PathState.DOWN
        detector.told("oss1", sriov=state, virtio=PathState.UP, now=10 + step * TIMING.interval)
        changes += detector.peers_sriov["oss1"] is not was
        was = detector.peers_sriov["oss1"]
    assert changes <= 2 * (200 * TIMING.interval / TIMING.hold_down)
    detector.told("oss1", sriov=PathState.UP, virtio=PathState.UP, now=20)
    assert detector.peers_sriov["oss1"] is PathState.UP
