"""Chooses OSTs for new objects: round robin while they are evenly full, else by free space.

The model is Lustre's LOD (lod_qos.c): round robin from a random start, shifted by one after
every multi-stripe file; by weight once the emptiest OST has more than `qos_threshold_rr`
(17 %) more space available than the fullest. Lustre's penalties for recently used OSTs are
left out: they matter with many servers only.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Collection, Mapping, Sequence

THRESHOLD = 0.17
# An OST with less than this is full: Lustre's reserved_mb_low, scaled to a lab's OSTs.
FULL_BYTES = 1 << 20


class Allocator:
    """Chooses OSTs by round robin or by free space. `osts` are the indices of all, in order."""

    def __init__(self, osts: Sequence[int], generator: random.Random) -> None:
        self._osts = tuple(osts)
        self._random = generator
        self._cursor = generator.randrange(len(self._osts))
        self._shift = 0

    def choose(
        self,
        count: int,
        available_bytes: Mapping[int, int],
        *,
        pool: Sequence[int] | None = None,
        start: int | None = None,
        avoid: Collection[int] = (),
        away: Collection[int] = (),
    ) -> list[int]:
        """Returns `count` OSTs, one of them twice only if `count` exceeds the usable ones.

        `available_bytes` is OST -> free bytes. `pool` limits the choice, `start` is the first OST;
        None: any. OSTs of `avoid` (of other mirrors) are taken only if too few others are left,
        those of `away` never: a start there gives the ones after it (lod_alloc_specific).

        Raises OSError: EINVAL for a start outside the pool, ENOSPC if no OST is left.
        """
        members = [ost for ost in self._osts if pool is None or ost in pool]
        if start is not None and start not in members:
            raise OSError(errno.EINVAL, "no such OST")
        if start in away:
            start = next((ost for ost in _from(members, start) if ost not in away), None)
        members = [ost for ost in members if ost not in away]
        usable = _usable(members, available_bytes, avoid, count)
        if start is not None:
            return self._from(start, members, usable, count)
        if is_balanced([available_bytes[ost] for ost in usable]):
            return self._round_robin(usable, count)
        return self._weighted(usable, available_bytes, count)

    @staticmethod
    def _from(start: int, members: list[int], usable: list[int], count: int) -> list[int]:
        order = [ost for ost in _from(members, start) if ost in usable or ost == start]
        return [order[k % len(order)] for k in range(count)]

    def _round_robin(self, usable: list[int], count: int) -> list[int]:
        first = self._cursor + self._shift
        self._cursor += count
        if count > 1 and len(usable) % count != 1:
            self._shift += 1
        return [usable[(first + k) % len(usable)] for k in range(count)]

    def _weighted(
        self, usable: list[int], available_bytes: Mapping[int, int], count: int
    ) -> list[int]:
        chosen: list[int] = []
        while len(chosen) < count:
            left = list(usable)
            while left and len(chosen) < count:
                weights = [available_bytes[ost] for ost in left]
                ost = self._random.choices(left, weights)[0]
                left.remove(ost)
                chosen.append(ost)
        return chosen


def _from(members: list[int], start: int | None) -> list[int]:
    turn = 0 if start is None else members.index(start)
    return members[turn:] + members[:turn]


def _usable(
    members: list[int], available_bytes: Mapping[int, int], avoid: Collection[int], count: int
) -> list[int]:
    usable = [ost for ost in members if available_bytes[ost] > FULL_BYTES]
    if not usable:
        raise OSError(errno.ENOSPC, "all OSTs are full")
    others = [ost for ost in usable if ost not in avoid]
    return others if len(others) >= count else usable


def is_balanced(available_bytes: Sequence[int]) -> bool:
    """Returns whether OSTs are evenly full, so that they are chosen by round robin."""
    return min(available_bytes) >= max(available_bytes) * (1 - THRESHOLD)
