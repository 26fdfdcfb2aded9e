"""Reads a host, or a tree captured from one, into a snapshot."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from vas_affinity.machine.reading.files import Tree, TreeFiles
from vas_affinity.machine.reading.guests import read_guests, threads_of
from vas_affinity.machine.reading.interrupts import InterruptLine, counts, rates, read_interrupts
from vas_affinity.machine.reading.jvm import with_jvm_names
from vas_affinity.machine.reading.pci import read_devices
from vas_affinity.machine.reading.procfs import processes
from vas_affinity.machine.reading.serving import Servers
from vas_affinity.machine.reading.sysfs import read_topology
from vas_affinity.machine.reading.threads import KnownThread, again, measured, named
from vas_affinity.machine.snapshot import LibvirtGuest, Snapshot
from vas_core.root import Root


@dataclass(frozen=True)
class SnapshotRequest:
    """Options of a snapshot.

    `seconds` is how long rates and CPU use are measured, 0 for not at all; `processes` are patterns
    of processes (see `threads.named`); `connect` is libvirt's URI, None for virsh's own default;
    `jvm_names` asks JVMs for the full names of their threads; `guests` asks libvirt.
    """

    seconds: float = 0.0
    processes: tuple[str, ...] = ()
    connect: str | None = None
    jvm_names: bool = False
    guests: bool = True


@dataclass(frozen=True)
class _Moment:
    at: float
    lines: dict[int, InterruptLine] | None


def read_snapshot(
    root: Tree,
    *,
    name: str | None = None,
    asked: SnapshotRequest | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Snapshot:
    """Reads the machine under a root. A captured tree has no guests, which is noted.

    `name` is the host's name; `pause` waits between the two readings of rates. Raises BadInput if
    sysfs has no CPU, or for a wrong pattern of processes.
    """
    asked = asked or SnapshotRequest()
    files = TreeFiles(root)
    host = name or socket.gethostname().partition(".")[0]
    topology = read_topology(files, host)
    guests, known = _who(files, asked, live=root == Root())
    before = _Moment(time.monotonic(), counts(files))
    if asked.seconds > 0:
        pause(asked.seconds)
    after = _Moment(time.monotonic(), counts(files)) if asked.seconds > 0 else before
    seconds = after.at - before.at
    interrupts = read_interrupts(files, after.lines, rates(before.lines, after.lines, seconds))
    devices = read_devices(files, topology)
    threads = measured(known, again(files, known), seconds)
    return Snapshot(
        host=host,
        topology=topology,
        devices=devices,
        interrupts=interrupts,
        guests=guests,
        threads=Servers(files, devices, interrupts).with_devices(threads),
        unread=tuple(files.unread),
    )


def _who(
    files: TreeFiles, asked: SnapshotRequest, *, live: bool
) -> tuple[tuple[LibvirtGuest, ...], list[KnownThread]]:
    running = processes(files)
    if not running:
        files.note("threads", "a captured tree has none")
    known, chosen = named(files, running, asked.processes)
    if live and asked.jvm_names:
        known = with_jvm_names(files, known, chosen)
    if not live or not asked.guests:
        files.note("guests", "a captured tree has none" if not live else "libvirt was not asked")
        return (), known
    guests = read_guests(files, asked.connect)
    theirs = [
        thread for guest in guests if guest.running for thread in threads_of(files, guest, running)
    ]
    mine = {thread.task.tid for thread in theirs}
    return guests, theirs + [thread for thread in known if thread.task.tid not in mine]
