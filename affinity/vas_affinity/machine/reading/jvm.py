"""Asks JVMs for the full names of their threads: the kernel keeps the first 15 bytes only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.procfs import RunningProcess, main_class
from vas_affinity.machine.reading.threads import KnownThread
from vas_core.errors import VasError
from vas_core.process import run

_JCMD_SECONDS = 20
_THREAD = re.compile(r'^"(.*)" .*\bnid=(0x[0-9a-f]+|\d+)\b', re.MULTILINE)


def with_jvm_names(
    files: TreeFiles, known: Sequence[KnownThread], processes: Iterable[RunningProcess]
) -> list[KnownThread]:
    """Returns the threads, those of JVMs with their full names.

    `jcmd` stops the JVM's threads for some milliseconds while it lists them. A JVM that could not
    be asked (another user's, or no `jcmd`) is noted.
    """
    names: dict[int, str] = {}
    for process in processes:
        if main_class(process.arguments):
            names |= _ask(files, process.pid)
    return [replace(thread, name=names.get(thread.task.tid, thread.name)) for thread in known]


def parse_dump(text: str) -> dict[int, str]:
    """Parses the output of `jcmd PID Thread.print`: thread id -> name."""
    return {int(nid, 0): name for name, nid in _THREAD.findall(text)}


def _ask(files: TreeFiles, pid: int) -> dict[int, str]:
    try:
        done = run(["jcmd", str(pid), "Thread.print"], timeout_seconds=_JCMD_SECONDS)
    except VasError as wrong:
        why = str(wrong).splitlines()[-1]
        files.note(f"names of threads of JVM {pid}", f"{why}; the kernel's are shown")
        return {}
    # In a container the JVM knows its threads by other numbers: then none of them is found.
    return parse_dump(done.stdout)
