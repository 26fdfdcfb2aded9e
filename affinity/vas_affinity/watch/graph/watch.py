"""Watches processes for some seconds: counts their wake-ups, and samples what they wait for.

Both stay within a budget of CPU time: by their measured cost, samples become rarer, and wake-ups
are counted for a share of the time only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from vas_affinity.machine.reading.tasks import read_gone, read_task, tids_of
from vas_affinity.machine.snapshot import Unread
from vas_affinity.watch.graph.channels import ChannelKind, Channels, read_channels
from vas_affinity.watch.graph.served import ServedDevice, served_devices
from vas_affinity.watch.graph.waits import ThreadWaits
from vas_affinity.watch.graph.wakeups import Counting, Wakes, counting
from vas_affinity.watch.graph.weights import (
    ThreadPair,
    Who,
    busiest,
    from_waits,
    from_wakes,
    raised,
)
from vas_affinity.watch.thread_keys import ThreadKeys
from vas_core.errors import NotHere
from vas_core.root import Root

_FIRST_INTERVAL_SECONDS, _MOST_INTERVAL_SECONDS = 0.1, 5.0
_PERIOD_SECONDS = 4.0  # starting and stopping the count costs some 5 ms
_FIRST_SHARE = 5.0  # by the budget: small, as the price is not known yet
_IO_BYTES = ("rchar", "wchar")


@dataclass(frozen=True)
class Overhead:
    """The cost of watching, in CPUs: 0.01 is 1 % of one.

    `counted` is the share of the time in which wake-ups were counted, `looks` the samples taken.
    """

    own: float
    kernel: float
    counted: float
    looks: int
    budget: float


@dataclass
class CommunicationGraph:
    """The threads that talk to each other, and what could not be known."""

    pairs: list[ThreadPair]
    channels: list[dict[str, Any]]
    unread: list[Unread]
    overhead: Overhead
    seconds: float
    threads: int
    names: dict[str, str] = field(default_factory=dict)
    """Key -> full name of the threads whose JVM told it."""
    devices: dict[str, ServedDevice] = field(default_factory=dict)
    """Key -> device whose completed requests wake the thread."""

    def as_json(self) -> dict[str, Any]:
        """Returns the document that `vas affinity plan --graph` reads."""
        return {
            "seconds": round(self.seconds, 3),
            "threads": self.threads,
            "pairs": [
                {"a": p.a, "b": p.b, "weight": round(p.weight, 3), "why": list(p.why)}
                for p in self.pairs
            ],
            "names": self.names,
            "devices": {
                key: {"device": one.device, "per_second": round(one.per_second, 3)}
                for key, one in self.devices.items()
            },
            "channels": self.channels,
            "unread": [one.model_dump() for one in self.unread],
            "overhead": {k: round(v, 5) for k, v in vars(self.overhead).items()},
        }


@dataclass
class ThreadWatch:
    """Watches the threads of some processes once."""

    root: Root
    pids: Sequence[int]
    names: ThreadKeys
    budget: float
    """In CPUs: a quarter is for samples, a quarter for counting, the rest for everything else."""
    device_of: Callable[[str], str | None] = lambda _: None
    """The device that a disk is, by its number."""
    unread: list[Unread] = field(default_factory=list)
    seen: dict[int, ThreadWaits] = field(default_factory=dict)
    looks: int = 0
    _interval: float = _FIRST_INTERVAL_SECONDS

    def run(self, seconds: float, told: Callable[[float], None]) -> CommunicationGraph:
        """Watches for so many seconds; calls `told` with the seconds done.

        Raises NotHere if the kernel allows neither counting nor sampling.
        """
        started, cpu = time.monotonic(), time.process_time()
        channels = read_channels(self.root, self.pids)
        with ExitStack() as stack:
            counts = self._start(stack)
            self._check(counts, channels)
            before = self._io()
            self._loop(seconds, counts, channels, told)
            if counts:
                counts.stop()
            took = time.monotonic() - started
            wakes = counts.wakes() if counts else []
            by_disks = counts.disk_wakes() if counts else []
            counted = counts.attached_seconds if counts else 0.0
            kernel = counts.kernel_seconds() if counts else 0.0
        who = self._who()
        pairs = self._pairs(wakes, counted, who, channels)
        io = self._io_rates(before, took, who)
        overhead = Overhead(
            (time.process_time() - cpu) / took,
            kernel / took,
            counted / took,
            self.looks,
            self.budget,
        )
        self._say_unknown(channels)
        return CommunicationGraph(
            raised(pairs, busiest(io)),
            _listed(channels),
            self.unread,
            overhead,
            took,
            len(who),
            {one.key: one.name for one in who.values() if one.name is not None},
            served_devices(by_disks, counted or 1.0, who, self.device_of),
        )

    def _start(self, stack: ExitStack) -> Counting | None:
        try:
            counts = stack.enter_context(counting(self.root, self.pids))
        except NotHere as refused:
            why = f"{refused}: weights are estimates from sampling"
            self.unread.append(Unread(what="wake-ups", why=why))
            return None
        if not counts.sees_disks:
            why = "the kernel's BTF does not tell where a request's disk is"
            self.unread.append(Unread(what="disks that wake threads", why=why))
        counts.share = min(1.0, _FIRST_SHARE * self.budget)
        return counts

    def _check(self, counts: Counting | None, channels: Channels) -> None:
        """Raises NotHere if nothing can be known; notes the threads that may not be sampled."""
        threads = [ThreadWaits(pid, tid) for pid in self.pids for tid in tids_of(self.root, pid)]
        there = [seen for seen in threads if seen.look(self.root, channels)]
        refused = [seen for seen in there if seen.refused]
        if refused and len(refused) == len(there) and counts is None:
            what = "neither wake-ups nor what these threads wait for may be looked at"
            raise NotHere(what, where="affinity graph", hint="run as root")
        if refused:
            why = f"{len(refused)} of {len(there)} may not be looked at: run as root"
            self.unread.append(Unread(what="what threads wait for", why=why))

    def _loop(
        self,
        seconds: float,
        counts: Counting | None,
        channels: Channels,
        told: Callable[[float], None],
    ) -> None:
        started, period, used = time.monotonic(), 0.0, 0.0
        due = 0.0
        while (now := time.monotonic() - started) < seconds:
            if counts and now - period >= counts.share * _PERIOD_SECONDS:
                counts.stop()
            if now - period >= _PERIOD_SECONDS:
                if counts:
                    so_far = counts.kernel_seconds()
                    counts.adapt((so_far - used) / (now - period), self.budget / 4)
                    used = so_far
                    counts.stop()
                    counts.start()
                period = now
            if now >= due:
                self._look(channels)
                due = now + self._interval
            told(now)
            wake = [due, period + _PERIOD_SECONDS, seconds]
            if counts and counts.share < 1:
                wake.append(period + counts.share * _PERIOD_SECONDS)
            time.sleep(max(0.001, min(at for at in wake if at > now) - now))

    def _look(self, channels: Channels) -> None:
        """Samples all threads, and sets the time of the next sample by this one's cost."""
        cpu = time.process_time()
        for pid in self.pids:
            for tid in tids_of(self.root, pid):
                self.seen.setdefault(tid, ThreadWaits(pid, tid)).look(self.root, channels)
        self.looks += 1
        price = (time.process_time() - cpu) / (self.budget / 4)
        self._interval = min(_MOST_INTERVAL_SECONDS, max(_FIRST_INTERVAL_SECONDS, price))

    def _who(self) -> dict[int, Who]:
        """Returns the living threads: tid -> process and key."""
        alive = ((pid, tid) for pid in self.pids for tid in tids_of(self.root, pid))
        stats = ((pid, read_task(self.root, pid, tid)) for pid, tid in alive)
        return {
            stat.tid: Who(pid, self.names.key(pid, stat), self.names.full_name(stat))
            for pid, stat in stats
            if stat
        }

    def _pairs(
        self, wakes: list[Wakes], counted: float, who: dict[int, Who], channels: Channels
    ) -> list[ThreadPair]:
        if counted:
            return from_wakes(wakes, counted, who, channels, self.seen)
        return from_waits({t: s for t, s in self.seen.items() if t in who}, who, channels)

    def _io(self) -> dict[int, int]:
        """Returns tid -> bytes that the thread read and wrote so far, by any system call."""
        found = {}
        for pid in self.pids:
            for tid in tids_of(self.root, pid):
                text = self._read_io(pid, tid)
                fields = dict(line.split(": ", 1) for line in text.splitlines())
                if fields:
                    found[tid] = sum(int(fields[name]) for name in _IO_BYTES)
        return found

    def _read_io(self, pid: int, tid: int) -> str:
        try:
            text = read_gone(self.root, f"proc/{pid}/task/{tid}/io")
        except PermissionError:
            text = None
        if text is None and not any(one.what == "I/O of threads" for one in self.unread):
            self.unread.append(Unread(what="I/O of threads", why="no /proc/PID/task/TID/io"))
        return text or ""

    def _io_rates(
        self, before: dict[int, int], took: float, who: dict[int, Who]
    ) -> dict[str, float]:
        after = self._io()
        return {
            who[tid].key: (after[tid] - before[tid]) / took
            for tid in after
            if tid in before and tid in who
        }

    def _say_unknown(self, channels: Channels) -> None:
        self.unread.extend(channels.unread)
        shared = [
            c for c in channels.all.values() if c.kind is ChannelKind.MEMORY and len(c.holders) > 1
        ]
        if shared:
            why = "reads and writes of memory make no system call: only what is shared is known"
            self.unread.append(Unread(what="traffic through shared memory", why=why))


def _listed(channels: Channels) -> list[dict[str, Any]]:
    """Returns the channels that two processes or more hold, at least one of which writes."""
    return [
        {"kind": c.kind.value, "name": c.name, "holders": c.holders}
        for c in channels.all.values()
        if len(c.holders) > 1 and any("w" in access for access in c.holders.values())
    ]
