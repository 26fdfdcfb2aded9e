"""Decides which probes are believed: a node of the site signed them, for this node, just now."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from enum import StrEnum

from vas_routing.daemon.keys import MAC_BYTES, Keys
from vas_routing.daemon.wire import (
    NO_CHALLENGE,
    VERSION,
    Challenge,
    RouteProbe,
    decode,
    signed_text,
)
from vas_routing.links import Leg, PathState

_UNSIGNED = bytes(MAC_BYTES)


class Refusal(StrEnum):
    """The reason why a datagram is not believed."""

    DROPPED = "dropped"
    """By the kernel: from another port than the probes' own, or the socket's buffer was full."""
    FAR = "far"
    """Its sender is not a neighbour: the TTL is not 255."""
    STRANGER = "stranger"
    """No node that may probe by this leg has its address."""
    FORMAT = "format"
    UNSIGNED = "unsigned"
    SIGNATURE = "signature"
    STALE = "stale"
    """Signed, but not an echo of this daemon's last challenges, or older than what was heard."""


@dataclass(frozen=True)
class HeardProbe:
    """A probe that may be answered. If `believed`, it may change the states of paths too."""

    probe: RouteProbe
    believed: bool
    refusal: Refusal | None = None


@dataclass
class _Sender:
    """The last message of one node's daemon, and the session of the daemon before it."""

    last: Challenge = NO_CHALLENGE
    by_leg: dict[Leg, int] = field(default_factory=dict)
    ended: int = 0


@dataclass
class Trust:
    """Signs the probes that this node sends and verifies those that it receives.

    There is a new one for each start and reload. For `window` seconds the echo of a challenge
    proves that a message is new. Without keys every new probe is believed: only its port shows
    that root sent it.
    """

    me: str
    keys: Keys
    window: float
    session: int = field(default_factory=lambda: secrets.randbits(63) + 1)
    _senders: dict[str, _Sender] = field(default_factory=dict)

    def ask(self, leg: Leg, to: str, *, sriov: PathState, virtio: PathState) -> bytes:
        """Returns a signed probe that asks a node."""
        echo = self._senders[to].last if to in self._senders else NO_CHALLENGE
        return self._seal(leg, to, RouteProbe(False, sriov, virtio, self._challenge(), echo))

    def answer(
        self, leg: Leg, to: str, asked: RouteProbe, *, sriov: PathState, virtio: PathState
    ) -> bytes:
        """Returns a signed answer to a node's probe."""
        return self._seal(leg, to, RouteProbe(True, sriov, virtio, self._challenge(), asked.sent))

    def verify(self, leg: Leg, sender: str, data: bytes) -> HeardProbe | Refusal:
        """Verifies a datagram from a node by a leg; returns its probe, or the reason to refuse it.

        A refused datagram is not answered. An unsigned probe of a sender that may have no key yet
        is answered: a guest at its first start must not take this node for silent.
        """
        found = decode(data)
        if found is None:
            return Refusal.FORMAT
        probe, body, code = found
        if self.keys and not self.keys.is_signed(signed_text(leg, sender, self.me, body), code):
            if code != _UNSIGNED or probe.is_answer:
                return Refusal.SIGNATURE if code != _UNSIGNED else Refusal.UNSIGNED
            return HeardProbe(probe, believed=False, refusal=Refusal.UNSIGNED)
        if not self._is_new(leg, sender, probe):
            return HeardProbe(probe, believed=False, refusal=Refusal.STALE)
        return HeardProbe(probe, believed=True)

    def round_trip(self, probe: RouteProbe) -> float:
        """Returns the seconds between this node's probe and the believed answer to it."""
        return (time.monotonic_ns() - probe.echo.sent_ns) / 1e9

    def _is_new(self, leg: Leg, name: str, probe: RouteProbe) -> bool:
        """Whether a probe echoes this daemon, and is newer than the last one by that leg."""
        age = time.monotonic_ns() - probe.echo.sent_ns
        if probe.echo.session != self.session or not 0 <= age <= self.window * 1e9:
            return False
        sender = self._senders.setdefault(name, _Sender())
        if probe.sent.session == sender.ended:
            return False
        if probe.sent.session != sender.last.session:
            self._senders[name] = sender = _Sender(ended=sender.last.session)
        if probe.sent.sent_ns <= sender.by_leg.get(leg, -1):
            return False
        sender.by_leg[leg] = probe.sent.sent_ns
        if probe.sent.sent_ns > sender.last.sent_ns:
            sender.last = probe.sent
        return True

    def is_newest(self, sender: str, probe: RouteProbe) -> bool:
        """Returns whether no newer probe of the sender came by the other leg."""
        return sender in self._senders and self._senders[sender].last == probe.sent

    def _challenge(self) -> Challenge:
        return Challenge(self.session, time.monotonic_ns())

    def _seal(self, leg: Leg, to: str, probe: RouteProbe) -> bytes:
        body = probe.encode()
        return body + self.keys.sign(signed_text(leg, self.me, to, body))


def trusted(keys: Keys) -> frozenset[str]:
    """Returns the marks of the wire version and keys by which a daemon's saved answers count."""
    return frozenset(f"{VERSION}:{name}" for name in keys.fingerprints())
