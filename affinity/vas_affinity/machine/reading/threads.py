"""Finds the threads of a snapshot, gives each a key, and measures them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.procfs import RunningProcess, ThreadSample, switches, tasks, uses
from vas_affinity.machine.snapshot import Thread, ThreadRole
from vas_core.errors import BadInput, NotHere

_STORAGE = re.compile(
    r"ll_(ost|mdt|mgs|cfg|sa)|mdt\d|ost_|ldlm_|ptlrpcd|socknal_|kiblnd_|obd_|osp-|qsd_|lfsck"
    r"|jbd2/|z_(wr|rd|null|ioctl|free|fr)_|txg_(sync|quiesce)|md\d+_raid|nvmet"
)
"""Threads of a Lustre server and of its storage: ldiskfs, ZFS, md, NVMe targets."""


@dataclass(frozen=True)
class KnownThread:
    """A thread of the snapshot; `name` is set if a better one than the kernel's is known."""

    task: ThreadSample
    key: str
    role: ThreadRole
    guest: str | None = None
    name: str | None = None


def named(
    files: TreeFiles, running: Sequence[RunningProcess], patterns: Iterable[str]
) -> tuple[list[KnownThread], list[RunningProcess]]:
    """Returns the threads of the processes that a pattern matches, and those processes.

    A pattern is a process id, or a regular expression that is searched in the name and the
    arguments. This command and its ancestors never match. Raises BadInput for a wrong expression.
    """
    callers = _callers(running)
    chosen: dict[int, RunningProcess] = {}
    for pattern in patterns:
        meant = [p for p in running if p.pid not in callers and is_meant(pattern, p)]
        if not meant:
            files.note(process_words(pattern), "nothing runs that matches")
        chosen |= {process.pid: process for process in meant}
    found = [
        (task, f"{process.program}/{task.name}")
        for process in chosen.values()
        for task in tasks(files, process.pid)
    ]
    return [KnownThread(t, key, role_of(t.name)) for t, key in ordinals(found)], list(
        chosen.values()
    )


def process_words(pattern: str) -> str:
    """Returns the name, in a snapshot's `unread`, of a pattern that no process matches."""
    return f"process {pattern!r}"


def no_process(patterns: Iterable[str]) -> NotHere:
    """Returns the error to raise if none of these patterns matches a process."""
    return NotHere(f"no process matches {', '.join(patterns)}", hint="see ps -e")


def ordinals(found: Iterable[tuple[ThreadSample, str]]) -> Iterator[tuple[ThreadSample, str]]:
    """Yields each thread with its key and a number, from 0 in order of the threads' start."""
    seen: Counter[str] = Counter()
    for task, key in sorted(found, key=lambda pair: (pair[0].start, pair[0].tid)):
        yield task, f"{key}/{seen[key]}"
        seen[key] += 1


def again(files: TreeFiles, known: Iterable[KnownThread]) -> list[ThreadSample]:
    """Samples the threads' processes a second time; threads that ended are missing."""
    pids = dict.fromkeys(thread.task.pid for thread in known)
    return [task for pid in pids for task in tasks(files, pid)]


def measured(
    known: Sequence[KnownThread], later: Sequence[ThreadSample], seconds: float
) -> tuple[Thread, ...]:
    """Returns the snapshot's threads with their use in the `seconds` between two samples.

    Use is None if `seconds` is 0.
    """
    before = [thread.task for thread in known]
    use, left = uses(before, later, seconds), switches(before, later, seconds)
    now = {(task.tid, task.start): task for task in later}
    latest = [
        replace(thread, task=now.get((thread.task.tid, thread.task.start), thread.task))
        for thread in known
    ]
    return tuple(_thread(thread, use, left) for thread in latest)


def _thread(known: KnownThread, use: Mapping[int, float], left: Mapping[int, float]) -> Thread:
    task = known.task
    return Thread(
        tid=task.tid,
        pid=task.pid,
        key=known.key,
        name=known.name or task.name,
        role=known.role,
        start=task.start,
        cpu=use.get(task.tid),
        last_cpu=task.last_cpu,
        allowed=task.allowed,
        guest=known.guest,
        switches_per_second=left.get(task.tid),
    )


def is_meant(pattern: str, process: RunningProcess) -> bool:
    """Tells whether a pattern (see `named`) matches. Raises BadInput for a wrong expression."""
    if pattern.isdecimal():
        return process.pid == int(pattern)
    try:
        wanted = re.compile(pattern)
    except re.error as wrong:
        raise BadInput(
            f"is not a regular expression: {wrong}", where=f"--process {pattern}"
        ) from None
    return bool(wanted.search(process.name) or wanted.search(" ".join(process.arguments)))


def _callers(running: Iterable[RunningProcess]) -> set[int]:
    """Returns this process and its ancestors: their arguments contain the pattern too."""
    parents = {process.pid: process.parent for process in running}
    callers: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in callers:
        callers.add(pid)
        pid = parents.get(pid, 0)
    return callers


def role_of(name: str) -> ThreadRole:
    """Returns the role that a name gives to a thread which belongs to no guest."""
    return ThreadRole.STORAGE if _STORAGE.match(name) else ThreadRole.SERVICE
