"""Counts wake-ups between threads in the kernel, within a budget of CPU time."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from vas_affinity.machine.cpulist import parse_cpulist
from vas_affinity.watch.graph import bpf
from vas_affinity.watch.graph.btf import member_offsets
from vas_affinity.watch.graph.program import (
    KEY_BYTES,
    MARKS,
    MINOR_BITS,
    VALUE_BYTES,
    DiskOffsets,
    Maps,
    Offsets,
    assemble_completion,
    assemble_count,
    assemble_mark,
)
from vas_core.errors import NotHere
from vas_core.root import Root

_TRACEPOINT, _COMPLETION = "sched_waking", "block_rq_complete"
_MEMBERS = {
    "task_struct": ("pid", "tgid"),
    "request": ("q", "rq_disk"),
    "request_queue": ("disk",),
    "gendisk": ("major", "first_minor"),
}
_BTF = "sys/kernel/btf/vmlinux"
_MOST_PROCESSES, _MOST_PAIRS = 4096, 65536
_FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO: elsewhere numbers of threads differ
_LEAST_SHARE, _MOST_GROWTH = 0.01, 4.0


@dataclass(frozen=True)
class Wakes:
    """The number of times that one thread woke another while wake-ups were counted."""

    waker: int
    woken: int
    direct: int
    softirq: int


@dataclass(frozen=True)
class DiskWakes:
    """The number of times that a disk's completed request woke a thread while this was counted.

    `disk` is its number as sysfs writes it, `8:16`.
    """

    disk: str
    woken: int
    count: int


@dataclass
class Counting:
    """A running count of wake-ups. `attached_seconds` is how long it counted so far.

    All methods but `stop` and `adapt` raise OSError if the kernel refuses.
    """

    programs: dict[str, int]
    """Tracepoint -> program."""
    maps: Maps
    cpus: int
    sees_disks: bool = False
    """Whether the kernel says which disk has completed a request."""
    attached_seconds: float = 0.0
    share: float = 1.0
    """Share of the time in which it counts, to stay within the budget."""
    _links: list[int] = field(default_factory=list)
    _since: float = field(default=0.0)

    def start(self) -> None:
        """Starts counting, or continues after a stop."""
        # What was entered when it last stopped has left since.
        bpf.put(self.maps.flags, bytes(4), bytes(8 * self.cpus))
        for tracepoint, program in self.programs.items():
            self._links.append(bpf.attach(program, tracepoint))
        self._since = time.monotonic()

    def stop(self) -> None:
        """Stops counting until the next start."""
        if self._links:
            self.attached_seconds += time.monotonic() - self._since
        while self._links:
            os.close(self._links.pop())

    def adapt(self, used: float, budget: float) -> None:
        """Adjusts the share of the time so that the cost (`used`) meets the budget, in CPUs."""
        factor = min(_MOST_GROWTH, budget / used if used else _MOST_GROWTH)
        self.share = min(1.0, max(_LEAST_SHARE, self.share * factor))

    def kernel_seconds(self) -> float:
        """Returns the CPU seconds that the counting itself used in the kernel."""
        return sum(bpf.run_time(program)[0] for program in self.programs.values()) / 1e9

    def wakes(self) -> list[Wakes]:
        """Returns the wake-ups counted so far."""
        found = bpf.entries(self.maps.pairs, KEY_BYTES, VALUE_BYTES)
        return [
            Wakes(*struct.unpack("<II", key), *struct.unpack("<QQ", value))
            for key, value in found.items()
        ]

    def disk_wakes(self) -> list[DiskWakes]:
        """Returns the wake-ups by disks counted so far."""
        rows = bpf.entries(self.maps.served, KEY_BYTES, VALUE_BYTES)
        found = ((struct.unpack("<II", key), struct.unpack("<QQ", rows[key])) for key in rows)
        return [DiskWakes(_named(disk), woken, sum(counts)) for (disk, woken), counts in found]


@contextmanager
def counting(root: Root, pids: Sequence[int]) -> Iterator[Counting]:
    """Counts wake-ups between the threads of these processes while the context lasts.

    Raises NotHere if the kernel refuses.
    """
    offsets, disks = read_offsets(root)
    cpus = len(parse_cpulist(root.read("sys/devices/system/cpu/possible") or "0"))
    with ExitStack() as stack:

        def kept(descriptor: int) -> int:
            stack.callback(os.close, descriptor)
            return descriptor

        try:
            maps = Maps(
                flags=kept(bpf.make_map(bpf.PER_CPU_ARRAY, 4, 8, 1)),
                watched=kept(bpf.make_map(bpf.HASH, 4, 4, _MOST_PROCESSES)),
                pairs=kept(bpf.make_map(bpf.HASH, KEY_BYTES, VALUE_BYTES, _MOST_PAIRS)),
                served=kept(bpf.make_map(bpf.HASH, KEY_BYTES, VALUE_BYTES, _MOST_PAIRS)),
            )
            for pid in pids[:_MOST_PROCESSES]:
                bpf.put(maps.watched, struct.pack("<I", pid), struct.pack("<I", 1))
            codes = _codes(offsets, disks, maps)
            programs = {name: kept(bpf.load(code)) for name, code in codes.items()}
            kept(bpf.count_run_time())
            found = Counting(programs, maps, cpus, sees_disks=disks is not None)
            stack.callback(found.stop)
            found.start()
        except OSError as refused:
            raise NotHere(f"bpf(2): {refused.strerror}") from refused
        yield found


def _codes(offsets: Offsets, disks: DiskOffsets | None, maps: Maps) -> dict[str, bytes]:
    """Returns tracepoint -> code of its program."""
    marks = {
        f"{name}_{end}": assemble_mark(maps.flags, bit, entry=end == "entry")
        for name, bit in MARKS.items()
        for end in ("exit", "entry")  # in this order: no flag is set that nothing clears
    }
    counts = {_TRACEPOINT: assemble_count(offsets, maps)}
    if disks is not None:
        counts[_COMPLETION] = assemble_completion(disks, maps.flags)
    return marks | counts


def _named(device: int) -> str:
    return f"{device >> MINOR_BITS}:{device & (1 << MINOR_BITS) - 1}"


def read_offsets(root: Root) -> tuple[Offsets, DiskOffsets | None]:
    """Reads the offsets from the kernel's BTF; None for those of disks, where it lacks them.

    Raises NotHere with what is missing.
    """
    if reason := bpf.supported():
        raise NotHere(reason)
    namespace = root.path("proc/self/ns/pid").readlink()
    if str(namespace) != _FIRST_NAMESPACE:
        raise NotHere("not in the first PID namespace: the kernel's numbers of threads differ")
    try:
        data = root.path(_BTF).read_bytes()
    except OSError as missing:
        raise NotHere(f"/{_BTF}: {missing.strerror}") from missing
    try:
        found = member_offsets(data, _MEMBERS)
        return Offsets(**found["task_struct"]), _disk_offsets(found)
    except (ValueError, TypeError) as missing:
        raise NotHere(f"/{_BTF} does not tell where task_struct.pid is") from missing


def _disk_offsets(found: Mapping[str, Mapping[str, int]]) -> DiskOffsets | None:
    request, queue, disk = (found[name] for name in ("request", "request_queue", "gendisk"))
    if not {"major", "first_minor"} <= disk.keys():
        return None
    if "rq_disk" in request:  # Linux before 5.17
        return DiskOffsets((request["rq_disk"],), disk["major"], disk["first_minor"])
    if "q" in request and "disk" in queue:
        return DiskOffsets((request["q"], queue["disk"]), disk["major"], disk["first_minor"])
    return None
