"""Meters energy by RAPL, where the kernel shows its counters (Documentation/power/powercap).

RAPL counts processor packages and, where they are metered, memory: no disks, no network, no fans,
no losses. TPC's energy specification measures everything that a system draws.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from vas_core.root import Root

METERED = "processor packages and memory, as RAPL counts them"
_POWERCAP = "sys/class/powercap"
# Not intel-rapl-mmio, which shows packages a second time.
_ZONE = re.compile(r"intel-rapl:\d+(:\d+)?")
# `core` and `uncore` are parts of a package, `psys` of it and more.
_NAMES = re.compile(r"package-\d+|dram")
_MICRO = 1e-6
# A counter of 65 kJ, the smallest seen, takes 65 s to wrap at a kilowatt.
_INTERVAL_SECONDS = 20.0


@dataclass(frozen=True)
class RaplZone:
    """The counter of a zone, and the value at which it wraps to 0, in microjoules."""

    counted: int
    wraps_at: int


Zones = Mapping[str, RaplZone]


def read_zones(root: Root) -> dict[str, RaplZone]:
    """Returns the counters by zone; empty where there are none, or only root may read them."""
    try:
        found = {
            name: (
                root.read(f"{_POWERCAP}/{name}/energy_uj"),
                root.read(f"{_POWERCAP}/{name}/max_energy_range_uj"),
            )
            for name in root.names(_POWERCAP)
            if _ZONE.fullmatch(name) and _NAMES.fullmatch(_name(root, name))
        }
    except PermissionError:
        return {}
    return {name: RaplZone(int(at), int(end)) for name, (at, end) in found.items() if at and end}


def _name(root: Root, zone: str) -> str:
    return root.read(f"{_POWERCAP}/{zone}/name") or ""


def joules_between(before: Zones, after: Zones) -> float:
    """Returns the joules between two readings of the same zones, none of which wrapped twice."""
    return _MICRO * sum(
        (zone.counted - before[name].counted) % zone.wraps_at for name, zone in after.items()
    )


class EnergyMeter:
    """Counts joules from its start; a thread reads so often that no counter wraps unseen."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._seen: Zones = read_zones(root)
        self._joules = 0.0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def joules(self) -> float | None:
        """Returns the joules used so far; None where no counter can be read."""
        with self._lock:
            now = read_zones(self._root)
            if not now or now.keys() != self._seen.keys():
                self._seen = {}
                return None
            self._joules += joules_between(self._seen, now)
            self._seen = now
            return self._joules

    def __enter__(self) -> EnergyMeter:
        if self._seen:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL_SECONDS):
            self.joules()
