"""Which threads a snapshot has, under which key, and what they did meanwhile."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vas_affinity.reading.files import Files
from vas_affinity.reading.procfs import Process, Task, switches, tasks, uses
from vas_affinity.snapshot import Role, Thread
from vas_core.errors import BadInput, NotHere

_STORAGE = re.compile(
    r"ll_(ost|mdt|mgs|cfg|sa)|mdt\d|ost_|ldlm_|ptlrpcd|socknal_|kiblnd_|obd_|osp-|qsd_|lfsck"
    r"|jbd2/|z_(wr|rd|null|ioctl|free|fr)_|txg_(sync|quiesce)|md\d+_raid|nvmet"
)
"""Threads of a Lustre server and what it stores on: ldiskfs, ZFS, md, NVMe targets."""


@dataclass(frozen=True)
class Known:
    """A thread that is in the snapshot; `name` where it has a better one than the kernel's."""

    task: Task
    key: str
    role: Role
    guest: str | None = None
    name: str | None = None


def named(
    files: Files, running: Sequence[Process], patterns: Iterable[str]
) -> tuple[list[Known], list[Process]]:
    """The threads of processes that a pattern names, and those processes.

    A pattern is a process id, or a regular expression looked for in the name and the arguments.
    Raises BadInput. This command, and what it was started by, are never meant.
    """
    callers = _callers(running)
    chosen: dict[int, Process] = {}
    for pattern in patterns:
        meant = [p for p in running if p.pid not in callers and _means(pattern, p)]
        if not meant:
            files.note(process_words(pattern), "nothing runs that matches")
        chosen |= {process.pid: process for process in meant}
    found = [
        (task, f"{process.program}/{task.name}")
        for process in chosen.values()
        for task in tasks(files, process.pid)
    ]
    return [Known(t, key, _role(t)) for t, key in ordinals(found)], list(chosen.values())


def process_words(pattern: str) -> str:
    """What a pattern that nothing matches is called in a snapshot's `unread`."""
    return f"process {pattern!r}"


def no_process(patterns: Iterable[str]) -> NotHere:
    """The error where none of these patterns matches."""
    return NotHere(f"no process matches {', '.join(patterns)}", hint="see ps -e")


def ordinals(found: Iterable[tuple[Task, str]]) -> Iterator[tuple[Task, str]]:
    """The keys with a number each, from 0 in the order of their start."""
    seen: Counter[str] = Counter()
    for task, key in sorted(found, key=lambda pair: (pair[0].start, pair[0].tid)):
        yield task, f"{key}/{seen[key]}"
        seen[key] += 1


def again(files: Files, known: Iterable[Known]) -> list[Task]:
    """The same threads later, without those that ended."""
    pids = dict.fromkeys(thread.task.pid for thread in known)
    return [task for pid in pids for task in tasks(files, pid)]


def measured(known: Sequence[Known], later: Sequence[Task], seconds: float) -> tuple[Thread, ...]:
    """The threads, with what they did in the `seconds` between; none where that is 0."""
    before = [thread.task for thread in known]
    use, left = uses(before, later, seconds), switches(before, later, seconds)
    now = {(task.tid, task.start): task for task in later}
    latest = [
        replace(thread, task=now.get((thread.task.tid, thread.task.start), thread.task))
        for thread in known
    ]
    return tuple(_thread(thread, use, left) for thread in latest)


def _thread(known: Known, use: Mapping[int, float], left: Mapping[int, float]) -> Thread:
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


def _means(pattern: str, process: Process) -> bool:
    if pattern.isdecimal():
        return process.pid == int(pattern)
    try:
        wanted = re.compile(pattern)
    except re.error as wrong:
        raise BadInput(f"is no regular expression: {wrong}", where=f"--process {pattern}") from None
    return bool(wanted.search(process.name) or wanted.search(" ".join(process.arguments)))


def _callers(running: Iterable[Process]) -> set[int]:
    """This process and its ancestors: their arguments hold the pattern too."""
    parents = {process.pid: process.parent for process in running}
    callers: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in callers:
        callers.add(pid)
        pid = parents.get(pid, 0)
    return callers


def _role(task: Task) -> Role:
    return Role.STORAGE if _STORAGE.match(task.name) else Role.SERVICE
