"""Finds the device that a thread serves by its wake-ups: the one whose interrupts wake it. Pure.

A thread that waits for a disk is woken by the handler of the disk's interrupt, on a CPU near the
one that asked for the I/O (rq_affinity of the block layer). What is completed within a softirq, as
a network card's packets are, is not seen here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.machine.snapshot import DeviceKind, Interrupt
from vas_affinity.watch.graph.wakeups import DeviceWakes
from vas_affinity.watch.graph.weights import Who

_LEAST_SHARE = 0.9
"""Of the times that devices woke a thread: with less it serves several."""
_LEAST_PER_SECOND = 1.0


@dataclass(frozen=True)
class ServedDevice:
    """The device that a thread serves, and how often per second its interrupts woke the thread."""

    device: str
    per_second: float


def served_devices(
    wakes: Iterable[DeviceWakes],
    seconds: float,
    who: Mapping[int, Who],
    interrupts: Iterable[Interrupt],
) -> dict[str, ServedDevice]:
    """Returns key of a thread -> its device, of threads that serve one disk or network card."""
    lines = {line.number: line for line in interrupts}
    counts: dict[int, dict[Interrupt | None, int]] = defaultdict(lambda: defaultdict(int))
    for wake in wakes:
        if wake.woken in who:
            counts[wake.woken][lines.get(wake.interrupt)] += wake.count
    found = {}
    for tid, by_line in counts.items():
        devices: dict[str, int] = defaultdict(int)
        for line, count in by_line.items():
            if line is not None and line.kind is not DeviceKind.OTHER:
                devices[line.device] += count
        most = max(devices, key=lambda name: devices[name], default=None)
        if most is None or devices[most] < _LEAST_SHARE * sum(by_line.values()):
            continue
        if devices[most] >= _LEAST_PER_SECOND * seconds:
            found[who[tid].key] = ServedDevice(most, devices[most] / seconds)
    return found
