"""Sends requests to a running lab's supervisor and reads its answers: one JSON document each."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.errors import BadInput, VasError
from vas_lab.network.paths import PathCounters

SOCKET = "control.sock"
_TIMEOUT_SECONDS = 15.0
_MAX_BYTES = 1 << 20


class ControlRequest(BaseModel):
    """A request to the supervisor: status, a daemon to signal or start, an OST to serve from
    `nid`."""

    model_config = ConfigDict(extra="forbid")

    ask: Literal["status", "signal", "start", "serve"]
    daemon: str = ""
    signal: int = 0
    ost: int = 0
    nid: str = ""


class DaemonStatus(BaseModel):
    """A daemon; `pid` (inside the lab) and `rss_bytes` while it runs, `ended` when it does not."""

    name: str
    node: str
    pid: int | None
    rss_bytes: int
    ended: str | None


class ControlAnswer(BaseModel):
    """The supervisor's answer: `error` is set if it refused; `cpu_seconds` counts from the start.

    `nodes` is guest -> state of its NodeManager. `lost_nodes` is node -> how the process ended that
    held its namespaces.
    """

    error: str | None = None
    ready: bool = False
    nodes: dict[str, str] = {}
    daemons: list[DaemonStatus] = []
    lost_nodes: dict[str, str] = {}
    paths: list[PathCounters] = []
    cpu_seconds: float = 0.0


def ask(state_dir: Path, request: ControlRequest) -> ControlAnswer:
    """Asks the supervisor of a lab and returns its answer.

    Raises BadInput if it refuses, VasError if it does not answer within 15 seconds, OSError if the
    lab's directory is gone.
    """
    with socket_path(state_dir) as path, socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_TIMEOUT_SECONDS)
        try:
            connection.connect(path)
            connection.sendall(request.model_dump_json().encode() + b"\n")
            answer = ControlAnswer.model_validate_json(
                b"".join(iter(lambda: connection.recv(65536), b""))
            )
        except (OSError, ValidationError) as wrong:
            raise VasError(f"the lab does not answer: {wrong}", where=str(state_dir)) from wrong
    if answer.error:
        raise BadInput(answer.error)
    return answer


def listen(state_dir: Path) -> socket.socket:
    """Opens the supervisor's socket, in place of an old one; its children do not inherit it.

    Raises OSError.
    """
    (state_dir / SOCKET).unlink(missing_ok=True)
    with socket_path(state_dir) as path:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
    listener.listen()
    return listener


def receive(connection: socket.socket) -> ControlRequest:
    """Receives a request. Raises BadInput for other bytes, OSError if the connection fails or is
    silent for 15 seconds."""
    connection.settimeout(_TIMEOUT_SECONDS)
    data = b""
    while not data.endswith(b"\n") and len(data) < _MAX_BYTES:
        part = connection.recv(65536)
        if not part:
            break
        data += part
    try:
        return ControlRequest.model_validate_json(data)
    except ValidationError as wrong:
        raise BadInput(str(wrong).replace("\n", " "), where="request") from wrong


@contextmanager
def socket_path(directory: Path, name: str = SOCKET) -> Iterator[str]:
    """Yields a short path of the socket `name` in `directory`: Linux allows 107 bytes.

    Raises OSError if the directory cannot be opened.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
