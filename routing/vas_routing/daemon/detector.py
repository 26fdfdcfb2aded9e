"""Decides which paths carry packets, from carriers, answers to probes and reports of peers.

Pure: it has no clock. Silence alone proves nothing: a daemon that is restarted is silent too, and a
machine that stood still heard nobody. A path is dead by silence only if it ever answered, and if
the same peer went on answering by the other leg. A path that was dead is used again after it was
good for the whole of the hold-down, so a path that flaps is switched away from once and stays so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from vas_routing.links import Leg, PathState


class SwitchCause(StrEnum):
    """The reason for a change of a path's state."""

    CARRIER = "carrier"
    SILENCE = "silence"
    PEER = "peer"
    DRAINED = "drained"
    RECOVERED = "recovered"


@dataclass(frozen=True)
class Timing:
    """Times of the detector in seconds: between probes, until silence counts, until a path is
    trusted."""

    interval: float
    misses: int
    hold_down: float

    @property
    def detect(self) -> float:
        """Seconds for which a path may be silent."""
        return self.interval * self.misses

    @property
    def lead(self) -> float:
        """Seconds for which the other leg must have been heard before silence counts."""
        return self.interval * (self.misses - 1)


@dataclass
class WatchedPath:
    """The state of one path, the cause of it, and since when a dead path has been good again."""

    state: PathState = PathState.UP
    cause: SwitchCause = SwitchCause.CARRIER
    good_since: float | None = None


@dataclass
class _Answers:
    """When the last answer came, and since when they have come without a pause."""

    last: float = -inf
    since: float = inf


@dataclass
class Detector:
    """The states of one node's paths: its SR-IOV leg, and the virtio path to each peer on its host.

    `witnesses`: nodes whose silence counts against the node's own SR-IOV leg. `unplugged`: peers
    whose port of this host's bridge is down. Silence before `started` does not count, as the first
    answers to a new daemon may still be on their way, and a new map makes all daemons busy at once.
    All times are seconds of one clock.
    """

    timing: Timing
    peers: tuple[str, ...]
    witnesses: frozenset[str]
    carrier: dict[Leg, bool] = field(default_factory=lambda: dict.fromkeys(Leg, True))
    drained: frozenset[Leg] = frozenset()
    unplugged: set[str] = field(default_factory=set)
    started: float = -inf
    peers_sriov: dict[str, PathState] = field(default_factory=dict)
    _answers: dict[tuple[Leg, str | None], _Answers] = field(default_factory=dict)
    _denied_until: dict[str, float] = field(default_factory=dict)
    _sriov_lost_at: dict[str, float] = field(default_factory=dict)
    _paths: dict[str | None, WatchedPath] = field(default_factory=dict)

    def answered(self, leg: Leg, node: str, now: float) -> None:
        """Notes that a node answered a probe that went by a leg."""
        for who in self._counts_for(leg, node):
            answers = self._answers.setdefault((leg, who), _Answers())
            if now - answers.last > self.timing.detect:
                answers.since = now
            answers.last = now

    def told(self, peer: str, *, sriov: PathState, virtio: PathState, now: float) -> None:
        """Notes what a peer on this host reports of its SR-IOV leg and of its virtio path to
        this node."""
        self._told_sriov(peer, sriov, now)
        until = now + 2 * self.timing.detect if virtio is PathState.DOWN else -inf
        self._denied_until[peer] = until

    def _told_sriov(self, peer: str, sriov: PathState, now: float) -> None:
        """A leg that a peer reports lost is lost at once. One that it reports back is believed
        only after the hold-down, which the peer itself waits for: one that flaps must not
        make its packets flap."""
        was = self.peers_sriov.get(peer)
        if sriov is PathState.DOWN and was is not PathState.DOWN:
            self._sriov_lost_at[peer] = now
        held = now - self._sriov_lost_at.get(peer, -inf) < self.timing.hold_down
        self.peers_sriov[peer] = PathState.DOWN if held else sriov

    def heard_before(self, pairs: Iterable[tuple[Leg, str]]) -> None:
        """Notes who answered an earlier daemon; their silence counts after `started`."""
        for leg, node in pairs:
            for who in self._counts_for(leg, node):
                self._answers.setdefault((leg, who), _Answers())

    def _counts_for(self, leg: Leg, node: str) -> tuple[str | None, ...]:
        """An answer counts for the node itself, and for the leg as a whole."""
        whole = leg is Leg.VIRTIO or node in self.witnesses
        return (node, None) if whole else (node,)

    @property
    def heard(self) -> frozenset[tuple[Leg, str]]:
        """The legs and names of all nodes that ever answered."""
        return frozenset((leg, node) for leg, node in self._answers if node is not None)

    def path(self, peer: str | None) -> WatchedPath:
        """Returns the virtio path to a peer, or the SR-IOV leg for None."""
        return self._paths.setdefault(peer, WatchedPath())

    def evidence(self, peer: str, now: float) -> PathState:
        """Returns the state of the virtio path to a peer as this node itself sees it, to tell
        the peer."""
        return PathState.DOWN if self._own_trouble(Leg.VIRTIO, peer, now) else PathState.UP

    def silence(self, peer: str | None, now: float) -> float | None:
        """Returns the seconds since the last answer by a path; None if none ever came.

        `peer` is as in `path`.
        """
        answers = self._answers.get((Leg.SRIOV if peer is None else Leg.VIRTIO, peer))
        return now - answers.last if answers and answers.last > -inf else None

    def evaluate(self, now: float) -> list[str | None]:
        """Brings the states of all paths up to date; returns the paths that changed."""
        return [peer for peer in (None, *self.peers) if self._evaluate_one(peer, now)]

    def _evaluate_one(self, peer: str | None, now: float) -> bool:
        path, bad = self.path(peer), self._trouble(peer, now)
        if bad:
            path.good_since = None
            if path.state is PathState.DOWN:
                return False
            path.state, path.cause = PathState.DOWN, bad
            return True
        if path.state is PathState.UP or not self._is_fresh(peer, now):
            return False
        if path.good_since is None:
            path.good_since = now
        if now - path.good_since < self.timing.hold_down:
            return False
        path.state, path.cause, path.good_since = PathState.UP, SwitchCause.RECOVERED, None
        return True

    def _trouble(self, peer: str | None, now: float) -> SwitchCause | None:
        found = self._own_trouble(Leg.SRIOV if peer is None else Leg.VIRTIO, peer, now)
        denied = peer is not None and self._denied_until.get(peer, -inf) > now
        return found or (SwitchCause.PEER if denied else None)

    def _own_trouble(self, leg: Leg, peer: str | None, now: float) -> SwitchCause | None:
        """The trouble that this node itself sees on a path."""
        if leg in self.drained:
            return SwitchCause.DRAINED
        if not self.carrier[leg] or peer in self.unplugged:
            return SwitchCause.CARRIER
        return SwitchCause.SILENCE if self._is_silent(leg, peer, now) else None

    def _is_silent(self, leg: Leg, peer: str | None, now: float) -> bool:
        here = self._answers.get((leg, peer))
        other = self._answers.get((Leg.VIRTIO if leg is Leg.SRIOV else Leg.SRIOV, peer))
        if here is None or other is None:
            return False
        last = max(here.last, self.started)
        if now - last <= self.timing.detect:
            return False
        return other.last - max(other.since, last) >= self.timing.lead

    def _is_fresh(self, peer: str | None, now: float) -> bool:
        answers = self._answers.get((Leg.SRIOV if peer is None else Leg.VIRTIO, peer))
        return answers is None or now - answers.last <= self.timing.detect
