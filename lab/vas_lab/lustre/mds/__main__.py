"""`python -m vas_lab.lustre.mds`: the MDS daemon, one thread around a selector."""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.errors import VasError
from vas_core.predictable_names import MDS_LOCK
from vas_core.safe_open import open_own
from vas_lab.lustre.mds.service import MdsSite, Service

_BACKLOG = 1024
_MAX_REQUEST_BYTES = 1 << 20
# Counting takes turns with answering: a request may wait for one slice.
_BUSY_SLICE_SECONDS = 0.0003
_IDLE_SLICE_SECONDS = 0.002


@dataclass
class _Connection:
    stream: socket.socket
    received: bytearray = field(default_factory=bytearray)
    descriptors: list[int] = field(default_factory=list)

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.stream.close()


class Server:
    """Serves connections one at a time: accepts, reads one request, answers, closes."""

    def __init__(self, service: Service, address: Path) -> None:
        self._service = service
        self._selector = selectors.DefaultSelector()
        address.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(address))
        address.chmod(0o600)
        self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serves requests for ever; does not return."""
        while True:
            usage = self._service.usage
            events = self._selector.select(0 if usage.is_counting else None)
            for key, _ in events:
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._read(key.data)
            usage.work(_BUSY_SLICE_SECONDS if events else _IDLE_SLICE_SECONDS)

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                stream, _ = self._listener.accept()
                stream.setblocking(False)
                connection = _Connection(stream)
                self._selector.register(stream, selectors.EVENT_READ, connection)
                # Most often the request has come with the connection.
                self._read(connection)

    def _read(self, connection: _Connection) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(connection.stream, 65536, 4)
        except BlockingIOError:
            return
        except OSError:
            self._drop(connection)
            return
        connection.descriptors += descriptors
        connection.received += data
        if connection.received.endswith(b"\n"):
            self._answer(connection)
        elif not data or len(connection.received) > _MAX_REQUEST_BYTES:
            self._drop(connection)

    def _answer(self, connection: _Connection) -> None:
        descriptor = connection.descriptors[0] if connection.descriptors else None
        # `errno` comes first: the C library reads no further.
        answer = {"errno": 0}
        try:
            answer |= self._service.answer(json.loads(connection.received), descriptor)
        except OSError as refused:
            answer = {"errno": refused.errno or errno.EIO}
        except (ValueError, KeyError, TypeError):
            # One client's nonsense must not end the service of the others.
            traceback.print_exc()
            answer = {"errno": errno.EINVAL}
        with contextlib.suppress(OSError):
            connection.stream.setblocking(True)
            connection.stream.settimeout(1.0)
            connection.stream.sendall(json.dumps(answer).encode() + b"\n")
        self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        self._selector.unregister(connection.stream)
        connection.close()


def _site(arguments: list[str]) -> MdsSite:
    parser = argparse.ArgumentParser(prog="python -m vas_lab.lustre.mds", description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--mount", type=Path, required=True)
    parser.add_argument("--fsname", required=True)
    parser.add_argument("--osts", required=True, help="indices: 0,1,2,3")
    parser.add_argument("--ost-size", type=int, required=True, help="bytes per OST")
    options = parser.parse_args(arguments)
    return MdsSite(
        state_dir=options.state,
        mount=options.mount.resolve(),
        fsname=options.fsname,
        osts=[int(index) for index in options.osts.split(",")],
        ost_bytes=options.ost_size,
    )


def main(arguments: list[str]) -> None:
    """Runs the MDS until SIGTERM or SIGINT. A second MDS on the same state ends at once."""
    site = _site(arguments)
    site.state_dir.mkdir(parents=True, exist_ok=True)
    try:
        lock = open_own(site.state_dir / MDS_LOCK.of(), os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"{site.state_dir}: another MDS serves this state; stop it first")
    except VasError as planted:
        sys.exit(str(planted))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    Server(Service(site), site.state_dir / "mds.sock").serve()


if __name__ == "__main__":
    main(sys.argv[1:])
