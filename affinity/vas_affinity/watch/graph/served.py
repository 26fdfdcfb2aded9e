"""Finds the disk that a thread serves by its wake-ups: the one whose requests wake it. Pure.

Who waits for a disk is woken as the kernel completes the request: in the handler of the disk's
interrupt, or within a softirq of the CPU that asked for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from vas_affinity.watch.graph.wakeups import DiskWakes
from vas_affinity.watch.graph.weights import Who

_LEAST_SHARE = 0.9
"""Of the times that disks woke a thread: with less it serves several."""
_LEAST_PER_SECOND = 1.0
_FEWEST = 10
"""Wake-ups that were counted, however short the time was."""


@dataclass(frozen=True)
class ServedDevice:
    """The device that a thread serves, and how often per second its requests woke the thread."""

    device: str
    per_second: float


def served_devices(
    wakes: Iterable[DiskWakes],
    seconds: float,
    who: Mapping[int, Who],
    device_of: Callable[[str], str | None],
) -> dict[str, ServedDevice]:
    """Returns key of a thread -> its device, of threads that serve one disk.

    `device_of` says which device a disk is, by its number; None for what has no interrupts, as a
    disk in memory.
    """
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for wake in wakes:
        if wake.woken in who:
            counts[wake.woken][wake.disk] += wake.count
    found = {}
    for tid, by_disk in counts.items():
        devices: Counter[str] = Counter()
        for disk, count in by_disk.items():
            if device := device_of(disk):
                devices[device] += count
        for device, count in devices.most_common(1):
            is_one = count >= _LEAST_SHARE * by_disk.total()
            if is_one and count >= max(_FEWEST, _LEAST_PER_SECOND * seconds):
                found[who[tid].key] = ServedDevice(device, count / seconds)
    return found
