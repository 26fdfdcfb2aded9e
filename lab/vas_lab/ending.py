"""Ends a lab from outside its namespaces: kills its first process, waits until all are gone."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.root import Root
from vas_lab.procfs import LabProcess, children, processes
from vas_lab.state import is_running

SUPERVISOR = "vas_lab.inside.supervisor"
STOP_TIMEOUT_SECONDS = 20.0


def end_lab(state_dir: Path) -> None:
    """Ends every process of the lab in a directory, if one is up or starting there.

    Returns when the last one is gone. Raises VasError if that takes more than 20 seconds, and for
    another user's lab.
    """

    def still_runs() -> bool:
        if not is_running(state_dir):
            return False
        _kill_supervisor(state_dir)
        return True

    poll(still_runs, lambda runs: not runs, STOP_TIMEOUT_SECONDS, "the lab to end")


def end_tied(process: subprocess.Popen[bytes]) -> None:
    """Ends a lab by its process `unshare`, and returns when that is gone.

    Raises TimeoutExpired after 20 seconds.
    """
    # unshare --kill-child: PID 1 dies with it, and all other processes with PID 1.
    below = children(Root(), process.pid)
    for child in below:
        kill(child)
    if not below:
        process.kill()
    with process:
        process.wait(STOP_TIMEOUT_SECONDS)


def kill(pid: int) -> None:
    """Kills a process; does nothing if there is none. Raises PermissionError for another user's."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def supervisors(root: Root, state_dir: Path) -> list[int]:
    """Returns the process ids of the supervisor of a directory's lab; empty without one.

    It is found by its command line. The `unshare` that started it has these words at the end of
    its own: it is returned only while it has no child yet.
    """
    found = list(_named(root, state_dir))
    parents = {process.parent for process in found}
    return [process.pid for process in found if process.pid not in parents]


def _named(root: Root, state_dir: Path) -> Iterator[LabProcess]:
    words = ("", "-m", SUPERVISOR, str(state_dir.resolve()), "")
    end = b"\0".join(map(os.fsencode, words))
    for process in processes(root):
        with suppress(OSError):
            if root.path(f"proc/{process.pid}/cmdline").read_bytes().endswith(end):
                yield process


def _kill_supervisor(state_dir: Path) -> None:
    try:
        for pid in supervisors(Root(), state_dir):
            kill(pid)
    except PermissionError as refused:
        raise VasError(
            "is another user's lab", where=str(state_dir), hint="they can end it, or root"
        ) from refused
