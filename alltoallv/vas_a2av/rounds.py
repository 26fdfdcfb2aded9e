"""Computes which blocks travel in which round, as core/schedule.h does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """A digit position: the number of blocks that a rank sends in each round of it."""

    blocks: tuple[int, ...]


def positions(ranks: int, radix: int) -> list[Position]:
    """Returns the digit positions of distances 1 to ranks - 1, by growing weight."""
    found, weight = [], 1
    while weight < ranks:
        last = min(radix - 1, (ranks - 1) // weight)
        digits = range(1, last + 1)
        found.append(Position(tuple(_with_digit(ranks, weight, radix, d) for d in digits)))
        weight *= radix
    return found


def _with_digit(ranks: int, weight: int, radix: int, digit: int) -> int:
    """Counts the distances below `ranks` that have this digit at this weight."""
    whole, rest = divmod(ranks, weight * radix)
    return whole * weight + min(max(rest - digit * weight, 0), weight)
