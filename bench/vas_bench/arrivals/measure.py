"""Measures the delay and the CPU time of placing new threads, by real daemons on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from vas_affinity.apply.thread import started
from vas_affinity.arrivals.way import NoticeWay
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.errors import NotHere, VasError
from vas_core.polling import poll
from vas_core.root import Root
from vas_lab.procfs import parse_stat

_PROGRAM = Path(__file__).with_name("service.py")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_READY_SECONDS = 60.0
_END_SECONDS = 30.0
_ALIVE = 20
"""How many of its threads live at a time: the plan has twice as many places."""


@dataclass(frozen=True)
class ArrivalLoad:
    """The threads and processes that start while daemons are measured.

    Each service starts a thread every `period_seconds`; other work starts `forks` processes a
    second that end at once, and `execs` that run a program.
    """

    seconds: float
    period_seconds: float = 1.05
    forks: float = 100.0
    execs: float = 5.0


@dataclass(frozen=True)
class ArrivalFigures:
    """One way's figures: the daemon's CPU time, and the delays of the threads it placed."""

    way: NoticeWay
    cpu_share: float
    threads: int
    delays_ms: tuple[float, ...]

    def delay_ms(self, share: float) -> float | None:
        """Returns the delay that a share of the placed threads did not exceed, None without one."""
        if not self.delays_ms:
            return None
        return self.delays_ms[max(0, ceil(share * len(self.delays_ms)) - 1)]


@dataclass(frozen=True)
class ArrivalsMeasured:
    """The figures of each way, and how busy the machine was meanwhile."""

    seconds: float
    processes_per_second: float
    load: tuple[float, float]
    ways: tuple[ArrivalFigures, ...]


def measure(load: ArrivalLoad, ways: Sequence[NoticeWay], work: Path) -> ArrivalsMeasured:
    """Measures all ways at once; `work` is a directory for the daemons' files.

    Raises NotHere on a machine of one CPU, VasError if a program ends early.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise NotHere("one CPU: no thread can be placed elsewhere")
    root = Root()
    with ExitStack() as running:
        pairs = [_Pair(way, work / way, load, (cpus[0], cpus[-1])) for way in ways]
        for pair in pairs:
            running.enter_context(pair.running())
        running.enter_context(_program("work", load.forks, load.execs))
        began, before = time.monotonic(), [_ticks(root, pair.daemon) for pair in pairs]
        processes = _processes(root)
        for pair in pairs:
            pair.begin()
        loads = _wait(root, load.seconds)
        took = time.monotonic() - began
        used = [_ticks(root, p.daemon) - b for p, b in zip(pairs, before, strict=True)]
        per_second = (_processes(root) - processes) / took
        found = tuple(
            pair.figures(ticks / _TICKS_PER_SECOND / took)
            for pair, ticks in zip(pairs, used, strict=True)
        )
    return ArrivalsMeasured(took, per_second, (min(loads), max(loads)), found)


@dataclass
class _Pair:
    """A daemon with one way of noticing threads, and the service that it places."""

    way: NoticeWay
    work: Path
    load: ArrivalLoad
    cpus: tuple[int, int]
    service: subprocess.Popen[bytes] = field(init=False)
    daemon: subprocess.Popen[bytes] = field(init=False)

    @property
    def threads(self) -> int:
        return max(1, int(self.load.seconds / self.load.period_seconds))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Runs both until the service's process is on its CPU, then yields."""
        self.work.mkdir()
        # The daemon of another measurement would place this service's threads too, by their names.
        name, period = f"{self.way}-{os.getpid()}"[-15:], self.load.period_seconds
        lives = _ALIVE * period
        with _program("service", name, period, self.threads, lives, self.cpus[1]) as self.service:
            assert self.service.stdout
            self.service.stdout.readline()
            with _daemon(self._files(name), self.work) as self.daemon:
                pid, first = self.service.pid, {self.cpus[0]}
                poll(
                    lambda: os.sched_getaffinity(pid),
                    lambda seen: seen == first,
                    _READY_SECONDS,
                    f"vas-affinityd to place {name}",
                )
                yield

    def begin(self) -> None:
        assert self.service.stdin
        self.service.stdin.write(b"\n")
        self.service.stdin.flush()

    def figures(self, cpu_share: float) -> ArrivalFigures:
        """Waits for the last threads. Raises VasError if the daemon, or the service, has ended."""
        status = self.daemon.poll()
        if status is not None:
            raise VasError(f"ended with status {status}", where=f"vas-affinityd ({self.way})")
        assert self.service.stdout
        lines = self.service.stdout.read().split()
        if len(lines) != self.threads:
            raise VasError(f"started {len(lines)} of {self.threads} threads", where="the service")
        delays = sorted(float(line) for line in lines if line != b"-")
        return ArrivalFigures(self.way, cpu_share, len(lines), tuple(delays))

    def _files(self, name: str) -> list[str]:
        """Writes the plan and the settings; returns the daemon's arguments."""
        pid = self.service.pid
        first = _pin(f"{name}/{name}/0", self.cpus[0], pid, started(Root(), pid))
        more = (_pin(f"{name}/worker/{number}", self.cpus[1]) for number in range(2 * _ALIVE))
        plan = HostPlacement(host="here", pins=(first, *more))
        (self.work / "plan.json").write_text(plan.model_dump_json())
        (self.work / "settings.yaml").write_text(json.dumps({"new_threads": self.way}))
        words = [str(self.work / "plan.json"), "--host", "here", "--metrics", "off"]
        words += ["--state", str(self.work / "state"), "--kept", str(self.work / "kept")]
        return [*words, "--config", str(self.work / "settings.yaml")]


def _pin(key: str, cpu: int, tid: int = 0, start: int | None = 0) -> Pin:
    target, reason = PinTarget.THREAD, "measured"
    return Pin(target=target, name=key, cpus=(cpu,), reason=reason, tid=tid, start=start)


@contextmanager
def _program(*words: object) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, str(_PROGRAM), *map(str, words)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _daemon(words: Sequence[str], work: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-P", "-m", "vas_core", "affinity", "daemon", *words]
    with (work / "log").open("wb") as log, subprocess.Popen(argv, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(_END_SECONDS)


def _wait(root: Root, seconds: float) -> list[float]:
    """Waits, and returns the load averages of one minute seen meanwhile."""
    until = time.monotonic() + seconds
    seen = []
    while True:
        seen.append(float((root.read("proc/loadavg") or "0").split()[0]))
        left = until - time.monotonic()
        if left <= 0:
            return seen
        time.sleep(min(left, 10.0))


def _ticks(root: Root, process: subprocess.Popen[bytes]) -> int:
    text = root.read(f"proc/{process.pid}/stat")
    return parse_stat(text).cpu_ticks if text else 0


def _processes(root: Root) -> int:
    """Returns the number of processes that were started since boot (proc(5), /proc/stat)."""
    lines = (root.read("proc/stat") or "").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("processes "))
