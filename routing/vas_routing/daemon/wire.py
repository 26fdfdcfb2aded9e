"""Encodes and decodes the probes of the route daemons.

A probe asks "do you hear me on this leg?", and an answer confirms it. Both carry the states of the
sender's paths, so that a node learns at once of losses that only its peer can see.

Version 2 has 40 bytes (version 1: 16, without code and challenges), followed by a 16-byte
authentication code over them and over leg, sender and receiver: a probe that is sent again by
another leg or to another node does not verify.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from vas_routing.daemon.keys import MAC_BYTES
from vas_routing.links import Leg, PathState

VERSION = 2
_FORMAT = struct.Struct("!4sBBxxQQQQ")
_MAGIC = b"VASR"
_ANSWER, _SRIOV_UP, _VIRTIO_UP = 1, 2, 4
SIZE = _FORMAT.size + MAC_BYTES


@dataclass(frozen=True)
class Challenge:
    """A time stamp of one daemon: its random `session` number and its clock, `sent_ns`.

    A signed message that returns it was made after that moment, by a node that heard the daemon.
    """

    session: int
    sent_ns: int


NO_CHALLENGE = Challenge(0, 0)


@dataclass(frozen=True)
class RouteProbe:
    """A probe or an answer. `sriov`: the sender's SR-IOV leg; `virtio`: its path to the receiver.

    `sent` is the sender's challenge. `echo` is the receiver's challenge that the sender heard last,
    or, in an answer, that of the probe that it answers.
    """

    is_answer: bool
    sriov: PathState
    virtio: PathState
    sent: Challenge
    echo: Challenge = NO_CHALLENGE

    def encode(self) -> bytes:
        """Returns the payload of the datagram, without its authentication code."""
        flags = _ANSWER * self.is_answer
        flags |= _SRIOV_UP * (self.sriov is PathState.UP) | _VIRTIO_UP * (
            self.virtio is PathState.UP
        )
        moments = (self.sent.session, self.sent.sent_ns, self.echo.session, self.echo.sent_ns)
        return _FORMAT.pack(_MAGIC, VERSION, flags, *moments)


def decode(data: bytes) -> tuple[RouteProbe, bytes, bytes] | None:
    """Returns the probe in a datagram, its bytes and their authentication code.

    Returns None if it is not a probe of this version.
    """
    if len(data) != SIZE:
        return None
    body, code = data[: _FORMAT.size], data[_FORMAT.size :]
    magic, version, flags, *moments = _FORMAT.unpack(body)
    if (magic, version) != (_MAGIC, VERSION):
        return None
    sriov, virtio = (
        PathState.UP if flags & bit else PathState.DOWN for bit in (_SRIOV_UP, _VIRTIO_UP)
    )
    sent, echo = Challenge(*moments[:2]), Challenge(*moments[2:])
    return RouteProbe(bool(flags & _ANSWER), sriov, virtio, sent, echo), body, code


def signed_text(leg: Leg, sender: str, receiver: str, body: bytes) -> bytes:
    """Returns the bytes that the authentication code of a probe covers.

    Names of nodes hold no zero byte, which separates them.
    """
    return b"\0".join((leg.value.encode(), sender.encode(), receiver.encode(), body))
