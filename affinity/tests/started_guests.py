"""Processes with the arguments and threads of a guest's QEMU, and libvirt's hook for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.process import run
from vas_core.repository import REPOSITORY

CPUS = tuple(sorted(os.sched_getaffinity(0)))
HOST = "here"
_HOOK = REPOSITORY / "affinity/libvirt/vas-affinity"
# Threads as QEMU names them with debug-threads=on, and vhost's as kernels from 6.4 on have them.
_QEMU = """
import ctypes, os, sys, threading
prctl = ctypes.CDLL(None).prctl
ready = threading.Barrier(5)
def work(name):
    prctl(15, name.encode())
    ready.wait()
    threading.Event().wait()
for name in ("CPU 0/KVM", "CPU 1/KVM", "IO iothread1", f"vhost-{os.getpid()}"):
    threading.Thread(target=work, args=(name,), daemon=True).start()
ready.wait()
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class RunningGuest:
    """A guest with two vCPUs, an iothread and a vhost thread; `pid` is its process."""

    pid: int
    name: str
    uuid: str

    @property
    def xml(self) -> str:
        return (
            f"<domain type='kvm'><name>{self.name}</name><uuid>{self.uuid}</uuid>"
            "<memory unit='MiB'>64</memory><vcpu>2</vcpu><iothreads>1</iothreads></domain>"
        )

    def where(self) -> dict[str, set[int]]:
        """Returns thread -> CPUs on which the kernel lets it run."""
        names = {f"vhost-{self.pid}": "vhost"}
        found = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            key = "main" if int(task.name) == self.pid else names.get(name, name)
            found[key] = os.sched_getaffinity(int(task.name))
        return found


@contextmanager
def running(name: str = "vm1") -> Iterator[RunningGuest]:
    uuid = str(uuid4())
    argv = [sys.executable, "-c", _QEMU, "-uuid", uuid]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            yield RunningGuest(process.pid, name, uuid)
        finally:
            process.kill()


def plan(guest: str = "vm1", *, vcpus: int = 2, others: Sequence[Pin] = ()) -> HostPlacement:
    """A plan with the vCPUs on the last CPU and the emulator on the first."""
    words = {"guest": guest, "reason": "test"}
    pins = [
        Pin(target=PinTarget.VCPU, name=str(n), cpus=(CPUS[-1],), **words) for n in range(vcpus)
    ]
    pins += [
        Pin(target=PinTarget.EMULATOR, name="emulator", cpus=(CPUS[0],), **words),
        Pin(target=PinTarget.IOTHREAD, name="1", cpus=(CPUS[-1],), **words),
    ]
    return HostPlacement(host=HOST, pins=(*pins, *others))


@dataclass
class Hook:
    """libvirt's hook, with its files in a directory; `asked` exists once something asks libvirt."""

    directory: Path
    seconds: int = 60
    program: Path = field(init=False)
    hook: Path = field(init=False)

    def __post_init__(self) -> None:
        self.state, self.kept = self.directory / "state", self.directory / "kept"
        self.plan, self.asked = self.directory / "plan.json", self.directory / "asked"
        self.counts = self.state / "guest-starts"
        self.log = self.directory / "log"
        self.program = self._program(
            "vas",
            # libvirt hands few of its own variables on.
            f"export PYTHONPATH='{os.environ.get('PYTHONPATH', '')}'\n"
            "shift 2\n"
            f"exec {sys.executable} -m vas_core affinity hook --host {HOST} --state {self.state} "
            f'--plan {self.plan} --kept {self.kept} "$@" 2>>{self.log}',
        )
        self._program("virsh", f"touch {self.asked}; exit 1")
        self.install(self.directory / "hook")

    def install(self, at: Path) -> None:
        """Writes the project's hook to a file, with these paths in place of the real ones."""
        text = _HOOK.read_text()
        for old, new in (
            ("program=/usr/bin/vas", f"program={self.program}"),
            ("counts=/run/vas/affinity/guest-starts", f"counts={self.counts}"),
            ("seconds=10", f"seconds={self.seconds}"),
        ):
            assert old in text
            text = text.replace(old, new)
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
        at.chmod(0o755)
        self.hook = at

    def _program(self, name: str, script: str) -> Path:
        path = self.directory / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def replace(self, script: str) -> None:
        """Has the hook run a shell script instead of vas."""
        self._program("vas", script)

    def started(self, name: str, xml: str, *words: str) -> None:
        """Calls the hook as libvirt does, which waits for its end and for that of its pipes."""
        path = f"{self.directory / 'bin'}:{os.environ['PATH']}"
        argv = [str(self.hook), name, *(words or ("started", "begin", "-"))]
        done = run(argv, stdin=xml, env={**os.environ, "PATH": path}, timeout_seconds=100)
        assert (done.status, done.stdout, done.stderr) == (0, "", "")

    def counted(self) -> dict[str, int]:
        """Returns the counts that are not 0."""
        names = ("in-force", "plan", "last-good", "rule", "cpuset", "nothing", "late", "incomplete")
        files = {name: self.counts / name for name in names}
        return {name: file.stat().st_size for name, file in files.items() if file.exists()}

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()
