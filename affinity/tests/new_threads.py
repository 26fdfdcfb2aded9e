"""A service that starts threads when it is told to, and a placer of new threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.thread import started
from vas_affinity.arrivals.metrics import ArrivalMetrics
from vas_affinity.arrivals.placer import ArrivalPlacer
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.arrivals.shared import SharedPlan
from vas_affinity.arrivals.way import NoticeWay
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.root import Root

CPUS = tuple(sorted(os.sched_getaffinity(0)))
# Of this process of tests alone: the placers of others place all programs of a name.
PROGRAM = f"vas-new-{os.getpid():07d}"
_SERVICE = """
import ctypes, os, sys, threading, time
prctl = ctypes.CDLL(None).prctl
prctl(15, sys.argv[1].encode())
def work(name, late, lives):
    time.sleep(late)
    if name:
        prctl(15, name.encode())
    os.write(1, b"%d %d\\n" % (threading.get_native_id(), time.monotonic_ns()))
    time.sleep(lives)
print("ready", flush=True)
for line in sys.stdin:
    name, late, lives, count = line.rstrip("\\n").split(",")
    for _ in range(int(count)):
        words = (name, float(late), float(lives))
        threading.Thread(target=work, args=words, daemon=True).start()
"""


class Service:
    """A process named PROGRAM whose threads are started by `thread`."""

    def __init__(self, name: str = PROGRAM) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVICE, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == "ready"

    @property
    def pid(self) -> int:
        return self.process.pid

    def thread(
        self, name: str = "", *, late: float = 0.0, lives: float = 600.0, count: int = 1
    ) -> tuple[int, int]:
        """Starts threads; returns the last one's id, and when it had its name (monotonic, ns)."""
        assert self.process.stdin
        self.process.stdin.write(f"{name},{late},{lives},{count}\n")
        self.process.stdin.flush()
        return [self._words() for _ in range(count)][-1]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _words(self) -> tuple[int, int]:
        tid, at_ns = self._line().split()
        return int(tid), int(at_ns)

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()


def pin(key: str, cpu: int, tid: int | None = None) -> Pin:
    """A pin of a thread that runs, or of one that has ended."""
    number, start = (0, 0) if tid is None else (tid, started(Root(), tid))
    return Pin(
        target=PinTarget.THREAD, name=key, cpus=(cpu,), reason="test", tid=number, start=start
    )


def plan(service: Service, *keys: str, cpu: int = CPUS[-1]) -> HostPlacement:
    """A plan with the service's first thread, and with ended threads of these keys on a CPU."""
    first = pin(f"{PROGRAM}/{PROGRAM}/0", CPUS[0], service.pid)
    return HostPlacement(host="here", pins=(first, *(pin(key, cpu) for key in keys)))


class Placing:
    """A running placer, with what it shares and what it counted."""

    def __init__(self, state: Path, way: NoticeWay, patterns: Sequence[str] = ()) -> None:
        self.registry = CollectorRegistry()
        self.metrics = ArrivalMetrics(self.registry)
        self.shared = SharedPlan()
        self.host = LocalHost(state, HostSettings(Root()))
        self.placer = ArrivalPlacer(
            self.host, PlanProcesses(Root(), patterns), self.shared, self.metrics, way
        )

    def publish(self, placement: HostPlacement | None, basis: PlanBasis | None = None) -> None:
        with self.shared.lock:
            self.shared.publish(placement, basis)

    def pins(self) -> dict[str, Pin]:
        with self.shared.lock:
            assert self.shared.plan
            return {pin.name: pin for pin in self.shared.plan.pins}

    def value(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"vas_affinity_{name}", labels) or 0.0


@contextmanager
def placing(state: Path, way: NoticeWay, patterns: Sequence[str] = ()) -> Iterator[Placing]:
    """A placer that is stopped, and whose changes are rolled back, at the end."""
    found = Placing(state, way, patterns)
    found.placer.start()
    try:
        yield found
    finally:
        found.placer.stop()
        found.host.rollback()
