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
_NUMBER = re.compile(r"\bnid=(0x[0-9a-f]{1,8}|[1-9][0-9]{0,9})\b")


def with_jvm_names(
    files: TreeFiles, known: Sequence[KnownThread], processes: Iterable[RunningProcess]
) -> list[KnownThread]:
    """Returns the threads, those of JVMs with their full names.

    `jcmd` stops the JVM's threads for some milliseconds while it lists them. A JVM that could not
    be asked (another user's, or no `jcmd`) is noted.
    """
    names: dict[int, dict[int, str]] = {}
    for process in processes:
        if main_class(process.arguments):
            names[process.pid] = _ask(files, process.pid)
    # A program can print what looks like a thread of another process: a JVM names its own only.
    return [
        replace(thread, name=names.get(thread.task.pid, {}).get(thread.task.tid, thread.name))
        for thread in known
    ]


def parse_dump(text: str) -> dict[int, str]:
    """Parses the output of `jcmd PID Thread.print`: thread id -> name.

    A program names its threads as it likes, at any length; the JVM's own words follow the last
    quotation mark.
    """
    names: dict[int, str] = {}
    for line in text.split("\n"):
        name, _, words = line.rpartition('" ')
        if name.startswith('"') and (found := _NUMBER.search(words)):
            names[int(found[1], 0)] = name[1:]
    return names


def _ask(files: TreeFiles, pid: int) -> dict[int, str]:
    try:
        done = run(["jcmd", str(pid), "Thread.print"], timeout_seconds=_JCMD_SECONDS)
    except VasError as wrong:
        why = str(wrong).splitlines()[-1]
        files.note(f"names of threads of JVM {pid}", f"{why}; the kernel's are shown")
        return {}
    # In a container the JVM knows its threads by other numbers: then none of them is found.
    return parse_dump(done.stdout)
