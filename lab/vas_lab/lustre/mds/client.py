"""Talks to the lab's MDS over a Unix socket: a JSON object each way per connection."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from vas_core.errors import VasError


def call(mds: Path, operation: str, *, descriptor: int | None = None, **arguments: Any) -> Any:
    """Asks the MDS and returns its answer.

    `descriptor` is a file of the mount (O_PATH will do) and travels with the request.
    Raises OSError with the errno the MDS answers; EIO if it goes away without an answer.
    """
    request = json.dumps({"op": operation, **arguments}).encode() + b"\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.connect(str(mds))
        sent = socket.send_fds(stream, [request], [] if descriptor is None else [descriptor])
        # Never send nothing: the MDS may have answered and closed by now, and that is EPIPE.
        if sent < len(request):
            stream.sendall(request[sent:])
        with stream.makefile("rb") as reader:
            line = reader.readline()
    answer = json.loads(line) if line.endswith(b"\n") else {"errno": errno.EIO}
    code = answer.pop("errno")
    if code:
        raise OSError(code, os.strerror(code))
    return answer


def wait_ready(mds: Path, timeout_seconds: float) -> None:
    """Returns when the MDS answers. Raises VasError after `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            call(mds, "ping")
        except OSError as last:
            if time.monotonic() > deadline:
                raise VasError(
                    f"the MDS does not answer: {last}",
                    where=str(mds),
                    hint="see what `python -m vas_lab.lustre.mds` printed",
                ) from last
            time.sleep(0.02)
        else:
            return
