"""Counts the huge pages that each node needs for a plan's guests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_affinity.placement import HostPlacement
from vas_affinity.plan.emit.guests import memory_of, shape_of


@dataclass(frozen=True)
class Pages:
    """The huge pages of one size that guests need on one node."""

    node: int
    page_bytes: int
    count: int
    guests: tuple[str, ...]


def pages_of(placement: HostPlacement, guests: Sequence[str]) -> list[Pages]:
    """Returns the pages to reserve, by node and size, including those reserved already."""
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for guest in guests:
        for node, page, count in _of_guest(placement, guest):
            found.setdefault((node, page), []).append((guest, count))
    return [
        Pages(node, page, sum(count for _, count in parts), tuple(name for name, _ in parts))
        for (node, page), parts in sorted(found.items())
    ]


def _of_guest(placement: HostPlacement, guest: str) -> Iterator[tuple[int, int, int]]:
    memory, shape = memory_of(placement, guest), shape_of(placement, guest)
    if memory is None or memory.page_bytes is None or not memory.nodes:
        return
    shares = {cell.node: cell.memory_bytes for cell in shape.cells}
    even = dict.fromkeys(memory.nodes, memory.memory_bytes // len(memory.nodes))
    for node, size in (shares or even).items():
        yield node, memory.page_bytes, -(-size // memory.page_bytes)
