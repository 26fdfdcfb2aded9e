"""Finds what a lab has in the kernel, seen from outside, and asserts that nothing of it is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from vas_core.polling import poll
from vas_core.root import Root
from vas_lab.procfs import processes
from vas_lab.state import is_running

_KINDS = ("mnt", "net", "pid", "uts")
_TIMEOUT_SECONDS = 30


def command_line(pid: int) -> str:
    """Returns a process's command line, its words joined by blanks; empty if it has ended."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""


def mentioning(text: str) -> list[str]:
    """Returns the command lines of all processes that contain the text."""
    lines = (command_line(process.pid) for process in processes(Root()))
    return [line for line in lines if text in line]


def namespaces(pid: int) -> set[str]:
    """Returns the namespaces of a process that are not this one's; empty if it has ended."""
    try:
        theirs = {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in _KINDS}
    except OSError:
        return set()
    return theirs - {os.readlink(f"/proc/self/ns/{kind}") for kind in _KINDS}


def descendants(pid: int) -> set[int]:
    """Returns the ids of a process and of all processes below it."""
    below: dict[int, list[int]] = {}
    for process in processes(Root()):
        below.setdefault(process.parent, []).append(process.pid)
    # Not by their ids: the kernel begins again with low ones, and a child may have one of them.
    found: set[int] = set()
    left = {pid}
    while left:
        found |= left
        left = {child for each in left for child in below.get(each, [])} - found
    return found


def namespaces_below(pid: int) -> set[str]:
    """Returns the namespaces of a process and of all below it, without this process's own."""
    return set().union(*map(namespaces, descendants(pid)))


@contextmanager
def namespaces_held(pid: int) -> Iterator[set[str]]:
    """Yields the namespaces below a process, and keeps them open for the body.

    The kernel soon gives the number of a namespace that nobody holds to another one.
    """
    with ExitStack() as files:
        for process in descendants(pid):
            for kind in _KINDS:
                with suppress(OSError):
                    files.enter_context(open(f"/proc/{process}/ns/{kind}", "rb"))
        yield namespaces_below(pid)


def mount_table() -> str:
    """Returns the mounts of this process, as the kernel lists them."""
    return Path("/proc/self/mountinfo").read_text()


def assert_nothing_left(state_dir: Path, seen: set[str], mounts: str) -> None:
    """Waits until nothing of a lab is left: lock, processes, and the namespaces `seen`.

    Raises VasError if some stay for 30 s, AssertionError if the mounts are not `mounts`, as
    before.
    """

    def gone(look: object) -> bool:
        return not look

    poll(lambda: is_running(state_dir), gone, _TIMEOUT_SECONDS, "the lab to end")
    poll(lambda: mentioning(str(state_dir)), gone, _TIMEOUT_SECONDS, "its processes to end")
    poll(lambda: _all_namespaces() & seen, gone, _TIMEOUT_SECONDS, "its namespaces to vanish")
    assert mount_table() == mounts


def _all_namespaces() -> set[str]:
    return set().union(*(namespaces(process.pid) for process in processes(Root())))
