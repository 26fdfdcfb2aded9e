"""Which paths carry packets: carriers, answers to probes, and the word of peers. Pure: no clock.

Silence alone proves nothing: a daemon that is restarted is silent too, and a machine that stood
still heard nobody. A path is dead by silence only if the same peer was heard by the other leg in
the meantime, and only if it ever answered. A path that was dead is used again after it was good
for the whole of the hold-down; so one that flaps is switched away from once and stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from vas_routing.links import Leg, State


class Cause(StrEnum):
    """Why a path changed."""

    CARRIER = "carrier"
    SILENCE = "silence"
    PEER = "peer"
    DRAINED = "drained"
    RECOVERED = "recovered"


@dataclass(frozen=True)
class Timing:
    """In seconds: between probes, until silence counts, and until a path is trusted again."""

    interval: float
    misses: int
    hold_down: float

    @property
    def detect(self) -> float:
        """How long a path may be silent."""
        return self.interval * self.misses

    @property
    def lead(self) -> float:
        """How much later the other leg must have been heard."""
        return self.interval * (self.misses - 1)


@dataclass
class Path:
    """One path's state, why it has it, and since when it has been good again."""

    state: State = State.UP
    cause: Cause = Cause.CARRIER
    good_since: float | None = None


@dataclass
class Detector:
    """The paths of one node: its SR-IOV leg, and the virtio path to each peer on its host.

    `unplugged`: peers whose port of this host's bridge is down. Times are seconds of one clock.
    """

    timing: Timing
    peers: tuple[str, ...]
    carrier: dict[Leg, bool] = field(default_factory=lambda: dict.fromkeys(Leg, True))
    drained: frozenset[Leg] = frozenset()
    unplugged: set[str] = field(default_factory=set)
    peers_sriov: dict[str, State] = field(default_factory=dict)
    _heard: dict[tuple[Leg, str], float] = field(default_factory=dict)
    _denied_until: dict[str, float] = field(default_factory=dict)
    _paths: dict[str | None, Path] = field(default_factory=dict)

    def answered(self, leg: Leg, node: str, now: float) -> None:
        """A node answered a probe that went by a leg."""
        self._heard[leg, node] = now

    def told(self, peer: str, *, sriov: State, virtio: State, now: float) -> None:
        """What a peer on this host says: of its SR-IOV leg, and of its virtio path to this node."""
        self.peers_sriov[peer] = sriov
        until = now + 2 * self.timing.detect if virtio is State.DOWN else -inf
        self._denied_until[peer] = until

    def heard_before(self, pairs: Iterable[tuple[Leg, str]]) -> None:
        """Who answered an earlier daemon: their silence counts from the start."""
        for leg, node in pairs:
            self._heard.setdefault((leg, node), -inf)

    @property
    def heard(self) -> Mapping[tuple[Leg, str], float]:
        """When each node was heard last, by each leg; -inf: by an earlier daemon."""
        return self._heard

    def path(self, peer: str | None) -> Path:
        """The virtio path to a peer, or the SR-IOV leg (None)."""
        return self._paths.setdefault(peer, Path())

    def evidence(self, peer: str, now: float) -> State:
        """What this node itself sees of the virtio path to a peer: what it tells the peer."""
        return State.DOWN if self._own_trouble(Leg.VIRTIO, peer, now) else State.UP

    def silence(self, peer: str | None, now: float) -> float | None:
        """For how long nothing was heard by a path; None if nothing ever was."""
        last = self._last(Leg.SRIOV if peer is None else Leg.VIRTIO, peer)
        return now - last if last is not None and last > -inf else None

    def judge(self, now: float) -> list[str | None]:
        """Brings all states up to date; returns the paths that changed."""
        return [peer for peer in (None, *self.peers) if self._judge_one(peer, now)]

    def _judge_one(self, peer: str | None, now: float) -> bool:
        path, bad = self.path(peer), self._trouble(peer, now)
        if bad:
            path.good_since = None
            if path.state is State.DOWN:
                return False
            path.state, path.cause = State.DOWN, bad
            return True
        if path.state is State.UP or not self._is_fresh(peer, now):
            return False
        if path.good_since is None:
            path.good_since = now
        if now - path.good_since < self.timing.hold_down:
            return False
        path.state, path.cause, path.good_since = State.UP, Cause.RECOVERED, None
        return True

    def _trouble(self, peer: str | None, now: float) -> Cause | None:
        found = self._own_trouble(Leg.SRIOV if peer is None else Leg.VIRTIO, peer, now)
        denied = peer is not None and self._denied_until.get(peer, -inf) > now
        return found or (Cause.PEER if denied else None)

    def _own_trouble(self, leg: Leg, peer: str | None, now: float) -> Cause | None:
        """What this node itself sees of a path."""
        if leg in self.drained:
            return Cause.DRAINED
        if not self.carrier[leg] or peer in self.unplugged:
            return Cause.CARRIER
        return Cause.SILENCE if self._is_silent(leg, peer, now) else None

    def _is_silent(self, leg: Leg, peer: str | None, now: float) -> bool:
        last = self._last(leg, peer)
        if last is None or now - last <= self.timing.detect:
            return False
        other = Leg.VIRTIO if leg is Leg.SRIOV else Leg.SRIOV
        elsewhere = self._last(other, peer)
        return elsewhere is not None and elsewhere >= last + self.timing.lead and elsewhere > -inf

    def _is_fresh(self, peer: str | None, now: float) -> bool:
        last = self._last(Leg.SRIOV if peer is None else Leg.VIRTIO, peer)
        return last is None or now - last <= self.timing.detect

    def _last(self, leg: Leg, peer: str | None) -> float | None:
        """When a peer, or anybody, was last heard by a leg; None for never."""
        if peer is not None:
            return self._heard.get((leg, peer))
        return max((at for (by, _), at in self._heard.items() if by is leg), default=None)
