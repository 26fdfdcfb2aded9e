"""Plans the CPU of threads that appeared since the last plan, as that plan would have. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vas_affinity.arrivals.adopt import Arrival, thread_pins
from vas_affinity.machine.distance import Distances
from vas_affinity.machine.reading.threads import role_of
from vas_affinity.machine.snapshot import Snapshot, Thread
from vas_affinity.placement import HostPlacement, Pin
from vas_affinity.threads import ThreadPlanInput, ThreadPlanSettings, plan_threads


@dataclass(frozen=True)
class PlanBasis:
    """The input of the last plan of the host's threads."""

    snapshot: Snapshot
    known: ThreadPlanInput
    settings: ThreadPlanSettings
    distances: Distances


def is_known(basis: PlanBasis, arrival: Arrival) -> bool:
    """Tells whether the last plan saw this thread, which then moves only if that pays."""
    return any((t.tid, t.start) == (arrival.tid, arrival.start) for t in basis.snapshot.threads)


def planned_pins(
    basis: PlanBasis,
    plan: HostPlacement,
    arrivals: Sequence[Arrival],
    alive: Mapping[int, Collection[int]],
) -> Iterator[Pin]:
    """Yields a pin for each arrival, one after another; the threads that are there stay.

    `alive` has the threads of processes that were looked at: others of theirs have ended. Raises
    BadInput if there is no CPU to place a thread on.
    """
    threads = list(_others(basis, plan, alive))
    numbers = _Numbers([*(t.key for t in threads), *(pin.name for pin in thread_pins(plan))])
    for arrival in arrivals:
        new = _thread(arrival, numbers.next(arrival.base))
        if basis.known.only is not None and not basis.known.only.search(new.key):
            continue
        snapshot = basis.snapshot.model_copy(update={"threads": (*threads, new)})
        known = replace(basis.known, only=re.compile(rf"\A{re.escape(new.key)}\Z"))
        (pin,) = plan_threads(snapshot, known, basis.settings, basis.distances).placement.pins
        threads.append(_placed(new, pin))
        yield pin.model_copy(update={"reason": f"when it appeared: {pin.reason}"})


def _others(
    basis: PlanBasis, plan: HostPlacement, alive: Mapping[int, Collection[int]]
) -> Iterator[Thread]:
    """Yields the last plan's threads and those placed since, each on the CPU of its pin."""
    pins = {(pin.tid, pin.start): pin for pin in thread_pins(plan)}
    known = set()
    for thread in basis.snapshot.threads:
        if thread.pid in alive and thread.tid not in alive[thread.pid]:
            continue
        known.add((thread.tid, thread.start))
        pin = pins.get((thread.tid, thread.start))
        yield thread.model_copy(update={"last_cpu": pin.cpus[0]}) if pin else thread
    there = {tid: pid for pid, tids in alive.items() for tid in tids}
    for (tid, start), pin in pins.items():
        if tid in there and (tid, start) not in known and tid is not None and start is not None:
            name = pin.name.rpartition("/")[0].partition("/")[2]
            new = Arrival(there[tid], tid, start, "", name, pin.cpus[0])
            yield _placed(_thread(new, pin.name), pin)


def _placed(thread: Thread, pin: Pin) -> Thread:
    """Returns a new thread on the CPU of its pin; its use is not known, so always active."""
    return thread.model_copy(update={"last_cpu": pin.cpus[0], "cpu": 1.0})


def _thread(arrival: Arrival, key: str) -> Thread:
    return Thread(
        tid=arrival.tid,
        pid=arrival.pid,
        key=key,
        name=arrival.name,
        role=role_of(arrival.name),
        start=arrival.start,
        last_cpu=arrival.cpu,
    )


class _Numbers:
    """Gives keys the ordinals that follow those in use."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._next: dict[str, int] = {}
        for key in keys:
            base, _, ordinal = key.rpartition("/")
            if ordinal.isdecimal():
                self._next[base] = max(self._next.get(base, 0), int(ordinal) + 1)

    def next(self, base: str) -> str:
        number = self._next.get(base, 0)
        self._next[base] = number + 1
        return f"{base}/{number}"
