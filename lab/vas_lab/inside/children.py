"""Starts, signals and waits for the supervisor's children, by name."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.root import Root
from vas_lab.control import DaemonStatus
from vas_lab.hadoop.daemons import LabDaemon
from vas_lab.procfs import parse_stat

_LOG_EXCERPT_LINES = 15


@dataclass
class _Child:
    daemon: LabDaemon
    process: subprocess.Popen[bytes]
    ended: str | None = None


@dataclass
class Children:
    """The daemons that the supervisor started, running or ended.

    `command` returns a daemon's argv and environment. `lost_nodes` is node -> how the process ended
    that held its namespaces.
    """

    logs: Path
    command: Callable[[LabDaemon], tuple[list[str], Mapping[str, str]]]
    lost_nodes: dict[str, str] = field(default_factory=dict)
    _by_name: dict[str, _Child] = field(default_factory=dict)
    _holders: Mapping[str, subprocess.Popen[str]] = field(default_factory=dict)

    def watch(self, holders: Mapping[str, subprocess.Popen[str]]) -> None:
        """Sets the processes that hold the nodes' namespaces: `reap` adds the node of one that
        ended to `lost_nodes`."""
        self._holders = holders

    def start(self, daemon: LabDaemon) -> None:
        """Starts a daemon, its output appended to its log. Raises BadInput if it runs."""
        known = self._by_name.get(daemon.name)
        if known and known.ended is None:
            raise BadInput("is running", where=daemon.name)
        argv, env = self.command(daemon)
        with (self.logs / f"{daemon.name}.log").open("ab") as log:
            process = subprocess.Popen(
                argv,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._by_name[daemon.name] = _Child(daemon, process)

    def signal(self, name: str, number: int) -> None:
        """Sends a signal to a running daemon. Raises BadInput when there is none of that name."""
        child = self._by_name.get(name)
        if child is None or child.ended is not None:
            running = ", ".join(n for n, c in self._by_name.items() if c.ended is None)
            raise BadInput("does not run", where=name, hint=f"running: {running}")
        child.process.send_signal(number)

    def daemon(self, name: str) -> LabDaemon:
        """Returns the daemon of that name, running or not. Raises BadInput for an unknown name."""
        if name not in self._by_name:
            raise BadInput(
                "no such daemon", where=name, hint=f"there are {', '.join(self._by_name)}"
            )
        return self._by_name[name].daemon

    def reap(self) -> list[DaemonStatus]:
        """Collects every child that ended, adopted orphans too; returns the daemons among them.

        Does not block.
        """
        ended = []
        while (found := _next_ended()) is not None:
            pid, status = found
            self._note_lost(pid, status)
            for child in self._by_name.values():
                if child.process.pid == pid and child.ended is None:
                    child.process.returncode = status  # it was waited for here, not by Popen
                    child.ended = _ending(status)
                    ended.append(_status(child))
        return ended

    def _note_lost(self, pid: int, status: int) -> None:
        for node, holder in self._holders.items():
            if holder.pid == pid and holder.returncode is None:
                holder.returncode = status
                self.lost_nodes[node] = _ending(status)

    def status(self) -> list[DaemonStatus]:
        """Returns the status of every daemon, in the order of first starts."""
        return [_status(child) for child in self._by_name.values()]

    def excerpt(self, name: str) -> str:
        """Returns the last 15 lines of a daemon's log. Raises OSError if it cannot be read."""
        text = (self.logs / f"{name}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-_LOG_EXCERPT_LINES:])


def _next_ended() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, os.waitstatus_to_exitcode(status)) if pid else None


def _ending(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"


def _status(child: _Child) -> DaemonStatus:
    pid = child.process.pid if child.ended is None else None
    stat = Root().read(f"proc/{pid}/stat") if pid else None
    return DaemonStatus(
        name=child.daemon.name,
        node=child.daemon.node,
        pid=pid,
        rss_bytes=parse_stat(stat).rss_bytes if stat else 0,
        ended=child.ended,
    )
