"""Computes the weights of pairs of threads: events per second between the two. Pure.

The weight of a pair is its wake-ups per second, both ways. If the kernel counts none, it is an
estimate from what threads wait for. Pairs with one of the busiest I/O threads weigh more: the
thread manager's later version gained by bringing those closer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vas_affinity.watch.graph.channels import Channel, ChannelKind, Channels
from vas_affinity.watch.graph.waits import ThreadWaits
from vas_affinity.watch.graph.wakeups import Wakes

IO_FACTOR = 2.0
BUSY_SHARE = 0.5
"""A thread with this share of the busiest thread's bytes per second is a busiest I/O thread."""
LEAST_BUSY_BYTES = 1 << 20
"""Per second: a thread with less is not an I/O thread."""

_SOCKETS = (ChannelKind.TCP, ChannelKind.UNIX)
_LEAST_CORRELATION = 0.8
_FEWEST_LOOKS = 8
_LEAST_WAITING = 0.05


@dataclass(frozen=True)
class Who:
    """The process and the key of a thread, and its full name where a JVM told it."""

    pid: int
    key: str
    name: str | None = None


@dataclass(frozen=True)
class ThreadPair:
    """Two threads that talk, by their keys; `why` says how that is known."""

    a: str
    b: str
    weight: float
    why: tuple[str, ...]


def from_wakes(
    wakes: Iterable[Wakes],
    seconds: float,
    who: Mapping[int, Who],
    channels: Channels,
    seen: Mapping[int, ThreadWaits],
) -> list[ThreadPair]:
    """Returns the pairs by their counted wake-ups.

    Wake-ups within a softirq count if the two processes share a socket.
    """
    rates: dict[tuple[int, int], float] = {}
    for wake in wakes:
        if wake.waker in who and wake.woken in who and wake.waker != wake.woken:
            sockets = _share_sockets(channels, who[wake.waker].pid, who[wake.woken].pid)
            count = wake.direct + (wake.softirq if sockets else 0)
            rates[wake.waker, wake.woken] = count / seconds
    found = []
    for a, b in sorted({(min(pair), max(pair)) for pair in rates}):
        there, back = rates.get((a, b), 0.0), rates.get((b, a), 0.0)
        if there + back:
            why = [f"wake-ups: a wakes b {there:.1f}/s, b wakes a {back:.1f}/s"]
            woken = [pair for pair in ((a, b), (b, a)) if rates.get(pair)]
            why += _waited_for(channels, who, seen, woken)
            found.append(ThreadPair(who[a].key, who[b].key, there + back, tuple(why)))
    return found


def from_waits(
    seen: Mapping[int, ThreadWaits], who: Mapping[int, Who], channels: Channels
) -> list[ThreadPair]:
    """Estimates the pairs: one waits for a channel that the other can write.

    In a process with several threads, a thread counts as the writer only if its voluntary switches
    rise and fall with the reader's. A futex joins the threads that wait for the same address.
    """
    rates = {tid: _rates(one) for tid, one in seen.items() if one.looks >= _FEWEST_LOOKS}
    found: dict[tuple[int, int], ThreadPair] = {}
    for tid in rates:
        for name, share in _shares(seen[tid]):
            partners = _partners(tid, name, seen, rates, who, channels)
            for other, why in partners:
                weight = (
                    share
                    / len(partners)
                    * min(float(rates[tid].mean()), float(rates[other].mean()))
                )
                pair = min(tid, other), max(tid, other)
                if weight and (pair not in found or found[pair].weight < weight):
                    keys = who[pair[0]].key, who[pair[1]].key
                    found[pair] = ThreadPair(*keys, weight, (f"estimated: {why}",))
    return [found[pair] for pair in sorted(found)]


def busiest(io_bytes_per_second: Mapping[str, float]) -> set[str]:
    """Returns the keys of the busiest I/O threads."""
    most = max(io_bytes_per_second.values(), default=0.0)
    least = max(most * BUSY_SHARE, LEAST_BUSY_BYTES)
    return {key for key, rate in io_bytes_per_second.items() if rate >= least}


def raised(
    pairs: Sequence[ThreadPair], busy: set[str], factor: float = IO_FACTOR
) -> list[ThreadPair]:
    """Returns the pairs, heaviest first, with raised weights for those with a busy I/O thread."""
    found = []
    for pair in pairs:
        if busy & {pair.a, pair.b}:
            why = (*pair.why, f"x {factor:g}: one of the busiest I/O threads")
            found.append(ThreadPair(pair.a, pair.b, pair.weight * factor, why))
        else:
            found.append(pair)
    return sorted(found, key=lambda pair: (-pair.weight, pair.a, pair.b))


def _share_sockets(channels: Channels, one: int, other: int) -> bool:
    return any(channel.kind in _SOCKETS for channel in channels.between(one, other))


def _waited_for(
    channels: Channels,
    who: Mapping[int, Who],
    seen: Mapping[int, ThreadWaits],
    pairs: Sequence[tuple[int, int]],
) -> list[str]:
    """Says which channels the woken thread waited for that the waker's process can write."""
    lines = []
    for waker, woken in pairs:
        for name in seen[woken].waits if woken in seen else {}:
            channel = channels.all.get(name)
            if channel and "w" in channel.holders.get(who[waker].pid, ""):
                lines.append(f"{who[woken].key} waits for {name}")
    one, two = (who[tid].pid for tid in pairs[0])
    if not lines and one != two:
        lines = [f"share {c.kind.value} {c.name}" for c in channels.between(one, two)][:3]
    return lines


def _rates(one: ThreadWaits) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns the voluntary switches per second between each two samples."""
    times = np.asarray(one.times)
    return np.asarray(np.diff(one.switches) / np.diff(times), dtype=np.float64)


def _shares(one: ThreadWaits) -> list[tuple[str, float]]:
    """Returns what a thread waited for in a good part of its samples, each with its share."""
    shares = [(name, count / one.looks) for name, count in one.waits.items()]
    return [(name, share) for name, share in shares if share >= _LEAST_WAITING]


def _partners(
    tid: int,
    name: str,
    seen: Mapping[int, ThreadWaits],
    rates: Mapping[int, np.ndarray[tuple[int], np.dtype[np.float64]]],
    who: Mapping[int, Who],
    channels: Channels,
) -> list[tuple[int, str]]:
    if name not in channels.all:  # a futex
        others = [o for o in rates if o != tid and seen[o].waits.get(name)]
        return [(other, f"both wait for {name}") for other in others]
    writers = _writers(channels.all[name])
    found = []
    for other in rates:
        if other == tid or who[other].pid not in writers:
            continue
        alone = sum(one.pid == who[other].pid for one in who.values()) == 1
        together = _correlation(rates[tid], rates[other])
        if alone or seen[other].writes.get(name):
            found.append((other, f"waits for {name}, which it writes"))
        elif together >= _LEAST_CORRELATION:
            found.append((other, f"waits for {name}; switches in step, r = {together:.2f}"))
    if len(found) > 1:
        return [(other, f"{why}, as {len(found) - 1} others") for other, why in found]
    return found


def _writers(channel: Channel) -> set[int]:
    return {pid for pid, access in channel.holders.items() if "w" in access}


def _correlation(
    one: np.ndarray[tuple[int], np.dtype[np.float64]],
    other: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    length = min(len(one), len(other))
    a, b = one[-length:], other[-length:]
    if length < _FEWEST_LOOKS - 1 or not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
