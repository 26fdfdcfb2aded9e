"""Counters of the machine besides the job's; and its page cache, which may be emptied too."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.root import Root

_SECTOR_BYTES = 512  # in this file, whatever the device's own is (Documentation/block/stat.rst)
_DROP = "proc/sys/vm/drop_caches"
_CACHED = re.compile(r"^Cached:\s*(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Counters:
    """Measures' names -> what has been counted since the start of the machine, or of the lab."""

    counted: Mapping[str, float]

    def since(self, before: Counters) -> dict[str, float]:
        """Returns how much each counter grew since `before`, of the names that both have."""
        both = self.counted.keys() & before.counted.keys()
        return {
            name: float(self.counted[name] - before.counted[name])
            for name in self.counted
            if name in both
        }


def device_counters(text: str) -> dict[str, int]:
    """Returns a block device's counters, from its `stat` in sysfs."""
    fields = [int(word) for word in text.split()]
    return {
        "device_read_bytes": fields[2] * _SECTOR_BYTES,
        "device_written_bytes": fields[6] * _SECTOR_BYTES,
        "device_requests": fields[0] + fields[4],
    }


def network_counters(interfaces: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """Returns the counters of interfaces, summed over those of one name.

    Each interface is its name, the bytes that it received, and those that it sent.
    """
    total: Counter[str] = Counter()
    for device, received, sent in interfaces:
        total[f"network_received_bytes/{device}"] += received
        total[f"network_sent_bytes/{device}"] += sent
    return dict(total)


def read_device(root: Root, directory: Path) -> dict[str, int]:
    """Returns the counters of a directory's block device; nothing on a tmpfs, which has none."""
    device = directory.stat().st_dev
    text = root.read(f"sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
    return device_counters(text) if text else {}


def cached_bytes(meminfo: str) -> int | None:
    """Returns the bytes of all files' pages in memory, from /proc/meminfo; None without them."""
    match = _CACHED.search(meminfo)
    return int(match[1]) * 1024 if match else None


def page_cache(root: Root) -> dict[str, float]:
    """Returns the size of this machine's page cache now, as a measure; none if unknown."""
    found = cached_bytes(root.read("proc/meminfo") or "")
    return {} if found is None else {"page_cache_bytes": float(found)}


def may_drop_page_cache(root: Root) -> bool:
    """Tells whether this process may empty the machine's page cache."""
    return os.access(root.path(_DROP), os.W_OK)


def drop_page_cache(root: Root, *, hint: str = "run as root of the machine") -> None:
    """Writes dirty pages, then empties the page cache.

    Raises NotHere, with the hint, if it may not. The cache is the whole machine's: whatever else
    runs there reads again.
    """
    os.sync()
    try:
        root.path(_DROP).write_text("1\n")
    except OSError as refused:
        what = f"the page cache cannot be emptied: {refused.strerror}"
        raise NotHere(what, where=f"/{_DROP}", hint=hint) from refused
