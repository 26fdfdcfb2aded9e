"""Tells by which interface packets really left, by the kernel's counters."""

from __future__ import annotations

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.sriov.node import Node

PACKETS = 200
"""Packets of a burst: many more than probes and ARP add meanwhile."""


def way(source: Node, address: str, own: str) -> str | None:
    """Sends a burst to a node's echo; returns the interface by which it left and came back.

    None if a packet was lost. Raises VasError if the other end saw another address than `own`,
    or if the burst went by more than one interface.
    """
    before = _counters(source)
    answered, seen_as = source.exchange(address, PACKETS)
    after = _counters(source)
    if answered < PACKETS:
        return None
    if seen_as != [own]:
        raise VasError(f"was seen as {seen_as}, not {own}", where=source.name)
    sent, received = (
        {name for name in after if after[name][at] - before[name][at] >= PACKETS} for at in (0, 1)
    )
    if len(sent) != 1 or sent != received:
        raise VasError(f"sent by {sent}, received by {received}", where=source.name)
    return sent.pop()


def settles(source: Node, address: str, own: str, wanted: str, timeout_seconds: float) -> None:
    """Waits until packets to an address go by the interface `wanted`, and none is lost.

    Raises VasError after the time.
    """
    what = f"{source.name} to reach {address} by {wanted}"
    poll(lambda: _way_now(source, address, own), lambda by: by == wanted, timeout_seconds, what)


def passed(node: Node, device: str) -> tuple[int, int]:
    """Returns how many packets an interface of a node has sent and received."""
    return _counters(node)[device]


def _way_now(source: Node, address: str, own: str) -> str | None:
    try:
        return way(source, address, own)
    except VasError as split:  # the burst saw the switch
        return str(split)


def _counters(node: Node) -> dict[str, tuple[int, int]]:
    """Packets sent and received, of interfaces that are no ports: a bridge counts for its own."""
    links = node.json("ip", "-j", "-s", "link")
    return {
        link["ifname"]: (link["stats64"]["tx"]["packets"], link["stats64"]["rx"]["packets"])
        for link in links
        if "master" not in link
    }
