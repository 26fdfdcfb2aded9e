"""The daemons' main loop: events, signals, reloads, and what systemd is told."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter
from pydantic import BaseModel

from vas_core.daemon_shell import DaemonShell
from vas_core.inforce import InForce, InForceMetrics
from vas_core.lastgood import LastGood


class Content(BaseModel):
    text: str


@pytest.fixture
def handlers() -> Iterator[None]:
    """Restores the process's signal handlers, which the shell takes."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as told:
        told.bind(path)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        yield told


def heard(manager: socket.socket) -> list[str]:
    found = []
    while True:
        try:
            found.append(manager.recv(4096).decode().split("\n")[0])
        except BlockingIOError:
            return found


def content_of(tmp_path: Path) -> InForce[Content]:
    file, registry = tmp_path / "file", CollectorRegistry()
    reloads = Counter("reloads", "Readings", ["result"], registry=registry)
    return InForce(
        lambda: Content(text=file.read_text()),
        (file,),
        LastGood(tmp_path / "kept", Content),
        InForceMetrics(registry, "content", "content"),
        reloads,
        logging.getLogger("test"),
    )


def test_it_reloads_and_ends_by_signals(
    tmp_path: Path, manager: socket.socket, handlers: None
) -> None:
    (tmp_path / "file").write_text("one")
    files, used, steps = content_of(tmp_path), [], []
    files.start(lambda content: used.append(content.text))
    shell = DaemonShell(files)
    reader, writer = os.pipe()
    events: list[bytes] = []
    shell.watch(reader, lambda: events.append(os.read(reader, 1)))

    def use() -> Content:
        content = files.load()
        used.append(content.text)
        return content

    def reload() -> None:
        shell.begin_reload()
        assert shell.end_reload(use, files.keep)

    def step(_: float) -> None:
        steps.append(len(steps))
        if len(steps) == 1:
            os.write(writer, b"x")
        elif len(steps) == 2:
            (tmp_path / "file").write_text("two")
            os.kill(os.getpid(), signal.SIGHUP)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    shell.run(step, reload, lambda: 0.05)
    assert events == [b"x"]
    assert used == ["one", "two"]
    assert heard(manager) == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    kept = LastGood(tmp_path / "kept", Content).read()
    assert kept is not None and kept[0].text == "two"


def test_a_reload_that_fails_leaves_the_old_content(
    tmp_path: Path, manager: socket.socket, handlers: None
) -> None:
    (tmp_path / "file").write_text("one")
    files = content_of(tmp_path)
    files.start(lambda _: None)
    shell, kept = DaemonShell(files), []

    def broken() -> Content:
        raise RuntimeError("a bug in a reader")

    shell.begin_reload()
    assert not shell.end_reload(broken, kept.append)
    assert not kept
    assert not files.is_current
    assert heard(manager) == ["RELOADING=1", "READY=1"]
    assert shell.is_reload_due(float("inf"))
