"""PID 1 of a lab: `python -m vas_lab.inside.supervisor STATE_DIR`, inside its own namespaces.

Its end, however it comes, is the end of every process, mount and network namespace of the
lab: the kernel kills a PID namespace with its first process. While its stdin is open and
silent it is tied to its starter and ends with it; `detach` lets it live on.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab import control
from vas_lab.control import DaemonStatus
from vas_lab.disk import disk_error
from vas_lab.hadoop.daemons import hdfs_daemons, yarn_daemons
from vas_lab.inside.children import Children
from vas_lab.inside.readiness import Readiness
from vas_lab.inside.setup import Inside
from vas_lab.links.totals import wait_linked
from vas_lab.messages import DETACH
from vas_lab.procfs import cpu_seconds
from vas_lab.spec import LabSpec
from vas_yarn.jobs.events import Event, emit

_READY_TIMEOUT_SECONDS = 180.0
_POLL_SECONDS = 0.25


class Supervisor:
    """The main loop of a lab's PID 1.

    It serves requests, collects ended children, watches the starter's pipe, and asks the daemons
    whether the lab is up until it is.
    """

    def __init__(self, spec: LabSpec) -> None:
        self._spec = spec
        self._inside = Inside(spec)
        self._children = Children(spec.logs, self._inside.command)
        self._readiness = Readiness(spec)
        self._selector = selectors.DefaultSelector()
        self._ready = False

    def run(self) -> None:
        """Brings the lab up and serves it; returns when the starter of a tied lab is gone.

        Raises VasError if the lab does not come up.
        """
        self._bring_up()
        self._selector.register(control.listen(self._spec.state_dir), selectors.EVENT_READ, "ask")
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, "starter")
        self._selector.register(_child_signals(), selectors.EVENT_READ, "child")
        self._reap()  # whoever ended before there was a signal for it
        deadline = time.monotonic() + _READY_TIMEOUT_SECONDS
        while True:
            for key, _ in self._selector.select(None if self._ready else _POLL_SECONDS):
                if not self._handle(key):
                    return
            if not self._ready:
                self._check(deadline)

    def _bring_up(self) -> None:
        self._inside.build(lambda text: emit(Event(kind="progress", text=text)))
        self._children.watch(self._inside.holders)
        self._children.start(self._inside.mds())
        self._inside.lustre.wait_ready()
        if links := self._inside.links():
            self._children.start(links)
            wait_linked(self._inside.lustre.state_dir)
        hdfs = hdfs_daemons(self._spec) if self._spec.hdfs else []
        for daemon in (*hdfs, *yarn_daemons(self._spec)):
            self._children.start(daemon)

    def _handle(self, key: selectors.SelectorKey) -> bool:
        if key.data == "starter":
            return self._from_starter()
        if key.data == "child":
            os.read(key.fd, 4096)
            self._reap()
        elif isinstance(key.fileobj, socket.socket):
            connection, _ = key.fileobj.accept()
            with connection:
                self._serve(connection)
        return True

    def _from_starter(self) -> bool:
        if os.read(sys.stdin.fileno(), len(DETACH)) != DETACH:
            return False
        self._selector.unregister(sys.stdin.fileno())
        return True

    def _reap(self) -> None:
        for daemon in self._children.reap():
            _log_death(daemon, self._spec.logs)
            if not self._ready:
                raise VasError(
                    f"{daemon.ended}; the end of its log:\n{self._children.excerpt(daemon.name)}",
                    where=daemon.name,
                )

    def _check(self, deadline: float) -> None:
        state = self._readiness.check()
        self._ready = state.ready
        emit(Event(kind="ready" if state.ready else "progress", text=state.text))
        if not state.ready and time.monotonic() > deadline:
            raise VasError(
                f"not up after {_READY_TIMEOUT_SECONDS:g} s: {state.text}",
                where=f"lab {self._spec.name}",
                hint=f"see the logs in {self._spec.logs}",
            )

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._obey(control.receive(connection))
        except VasError as refused:
            answer = control.ControlAnswer(error=str(refused))
        except OSError:
            return  # whoever asked is gone
        else:
            self._reap()  # not above: a death during the start ends the lab, it is no answer
            answer = self._state()
        try:
            connection.sendall(answer.model_dump_json().encode())
        except OSError:
            return

    def _obey(self, request: control.ControlRequest) -> None:
        if request.ask == "signal":
            self._children.signal(request.daemon, request.signal)
        elif request.ask == "start":
            self._children.start(self._children.daemon(request.daemon))
        elif request.ask == "serve":
            self._inside.lustre.serve(request.ost, request.nid)

    def _state(self) -> control.ControlAnswer:
        return control.ControlAnswer(
            ready=self._ready,
            nodes=self._readiness.nodes(),
            daemons=self._children.status(),
            lost_nodes=self._children.lost_nodes,
            paths=self._inside.paths(),
            cpu_seconds=cpu_seconds(Root()),
        )


def _log_death(daemon: DaemonStatus, logs: Path) -> None:
    """Says so in supervisor.log, which stderr is."""
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    what = f"{daemon.name} on {daemon.node}: {daemon.ended}"
    with suppress(OSError):  # a full disk must not end the lab
        print(f"{now} {what}; its log is {logs / daemon.name}.log", file=sys.stderr)


def _child_signals() -> int:
    """A descriptor that becomes readable when a child ends."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # PID 1 gets no signal it has no handler for; what the handler does is to wake select().
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def main() -> None:
    """Runs the supervisor of the lab in the directory that is the only argument."""
    spec = LabSpec.model_validate_json((Path(sys.argv[1]) / "spec.json").read_bytes())
    try:
        Supervisor(spec).run()
    except (VasError, OSError) as wrong:
        error = disk_error(wrong, spec.state_dir) if isinstance(wrong, OSError) else wrong
        emit(Event(kind="failed", text=str(error)))
        sys.exit(1)


if __name__ == "__main__":
    main()
