"""Samples from /proc what threads wait for: their system call, and their voluntary switches."""

from __future__ import annotations

import platform
import re
import time
from collections import Counter
from dataclasses import dataclass, field

from vas_affinity.machine.reading.tasks import read_gone
from vas_affinity.watch.graph.channels import Channels
from vas_core.root import Root

_READS = {
    "x86_64": {0: "read", 17: "pread", 19: "readv", 45: "recvfrom", 47: "recvmsg", 288: "accept4"},
    "aarch64": {63: "read", 65: "readv", 67: "pread", 207: "recvfrom", 212: "recvmsg"},
}
_WRITES = {
    "x86_64": {1: "write", 20: "writev", 44: "sendto", 46: "sendmsg"},
    "aarch64": {64: "write", 66: "writev", 206: "sendto", 211: "sendmsg"},
}
_FUTEX = {"x86_64": 202, "aarch64": 98}
_SWITCHES = re.compile(r"^voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)


@dataclass
class ThreadWaits:
    """The samples of a thread. `switches` is the count of voluntary switches at `times`."""

    pid: int
    tid: int
    looks: int = 0
    waits: Counter[str] = field(default_factory=Counter)
    """Channel's name, or `futex PID ADDRESS`, -> samples in which the thread waited for it."""
    writes: Counter[str] = field(default_factory=Counter)
    switches: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    refused: bool = False
    """The kernel refuses to tell what the thread waits for."""

    def look(self, root: Root, channels: Channels) -> bool:
        """Takes a sample. Returns False if the thread ended."""
        base = f"proc/{self.pid}/task/{self.tid}"
        status = read_gone(root, f"{base}/status")
        found = _SWITCHES.search(status or "")
        if found is None:
            return False
        self.looks += 1
        self.switches.append(int(found[1]))
        self.times.append(time.monotonic())
        try:
            self._wait(read_gone(root, f"{base}/syscall") or "", channels)
        except PermissionError:
            self.refused = True
        return True

    def _wait(self, text: str, channels: Channels) -> None:
        call = parse_syscall(text)
        if call is None:
            return
        number, first = call
        machine = platform.machine()
        if number == _FUTEX.get(machine):
            self.waits[f"futex {self.pid} {first:#x}"] += 1
            return
        channel = channels.by_descriptor.get((self.pid, first))
        if channel is None:
            return
        name = f"{channel.kind.value} {channel.name}"
        if number in _READS.get(machine, {}):
            self.waits[name] += 1
        elif number in _WRITES.get(machine, {}):
            self.writes[name] += 1


def parse_syscall(text: str) -> tuple[int, int] | None:
    """Returns a thread's system call and its first argument; None for a running thread."""
    words = text.split()
    if len(words) < 3 or not words[0].isdecimal():
        return None
    return int(words[0]), int(words[1], 16)
