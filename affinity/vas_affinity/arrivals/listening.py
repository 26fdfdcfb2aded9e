"""Listens to the kernel's connector for new threads and programs (CONFIG_PROC_EVENTS).

Recent kernels let every user of the first network, process and user namespaces (6.18 does), older
ones root with CAP_NET_ADMIN.
"""

from __future__ import annotations

import ctypes
import errno
import secrets
import select
import socket
import struct
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

from vas_affinity.arrivals.events import CN_IDX_PROC, ProcEvent, What, filter_of, parse, request

_NETLINK_CONNECTOR = 11
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33  # asm-generic/socket.h
_STEP_BYTES = 8
_BUFFER_BYTES = 1 << 20
_LONGEST_BYTES = 4096
_MOST_AT_ONCE = 512
_MOST_IN_BUFFER = 16384  # more than fit: the kernel doubles its bytes, and counts 700 for each
_ANSWER_SECONDS = 1.0


@dataclass
class Heard:
    """The events of one reading, and the messages that were not used."""

    events: list[ProcEvent] = field(default_factory=list)
    lost: bool = False
    """Whether the kernel dropped events, as the socket's buffer was full."""
    forged: int = 0
    """Messages that another sender than the kernel sent."""
    malformed: int = 0


class ProcConnector:
    """A socket that hears of new threads, programs and names. Its buffer bounds what waits.

    Raises OSError if this process may not listen: TimeoutError where the kernel does not answer,
    as in a process namespace.
    """

    def __init__(self) -> None:
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
        self.socket = socket.socket(socket.AF_NETLINK, kind, _NETLINK_CONNECTOR)
        self._listens = False
        try:
            self._enlarge()
            self.hear_of(())
            self.socket.bind((0, CN_IDX_PROC))
            self._ask()
            self._listens = True
        except BaseException:
            self.close()
            raise

    def hear_of(self, pids: Collection[int], *, programs: bool = True) -> None:
        """Lets only events of these processes through, and with `programs` those of all execs.

        Raises OSError if the kernel refuses the filter.
        """
        program = filter_of(pids, programs=programs)
        steps = ctypes.create_string_buffer(program, len(program))
        count, address = len(program) // _STEP_BYTES, ctypes.addressof(steps)
        self.socket.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", count, address)
        )

    def read(self) -> Heard:
        """Reads the waiting messages, a bounded number. Raises OSError if the socket failed.

        After a loss it reads all that wait: until its buffer is empty, the kernel drops whatever
        comes and says nothing more (netlink(7); `netlink_overrun` of the kernel's af_netlink.c).
        """
        heard, count = Heard(), 0
        while count < (_MOST_IN_BUFFER if heard.lost else _MOST_AT_ONCE):
            count += 1
            try:
                message, (port, _) = self.socket.recvfrom(_LONGEST_BYTES)
            except BlockingIOError:
                break
            except OSError as wrong:
                if wrong.errno != errno.ENOBUFS:
                    raise
                heard.lost = True
                continue
            _take(heard, message, port)
        return heard

    def close(self) -> None:
        """Ends the listening, and closes the socket.

        Kernels before 6.6 count who asked, and go on making events if nobody takes that back.
        """
        if self._listens:
            with suppress(OSError):
                port = self.socket.getsockname()[0]
                self.socket.sendto(request(0, port, listen=False), (0, 0))
        self.socket.close()

    def _enlarge(self) -> None:
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        except PermissionError:  # then net.core.rmem_max is the limit
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)

    def _ask(self) -> None:
        """Asks for events and waits for the kernel's answer to this request, not to another's."""
        number = secrets.randbits(32)
        self.socket.sendto(request(number, self.socket.getsockname()[0]), (0, 0))
        deadline = time.monotonic() + _ANSWER_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            select.select([self.socket], [], [], left)
            for event in self.read().events:
                if event.what is What.ACK and event.answers == number:
                    if event.pid:
                        raise OSError(event.pid, "the kernel refuses to send process events")
                    return
        raise TimeoutError(errno.ETIMEDOUT, "the kernel does not answer")


def _take(heard: Heard, message: bytes, port: int) -> None:
    if port != 0:
        heard.forged += 1
        return
    try:
        event = parse(message)
    except ValueError:
        heard.malformed += 1
        return
    if event is not None:
        heard.events.append(event)
