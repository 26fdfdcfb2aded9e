"""Runs in each node of the rig and does what the test asks for; needs the standard library alone.

Started as `agent.py CHANNEL`: the name of a virtio port, or the number of a descriptor. A request
is a line of JSON, `{"do": NAME, ...}`, and so is its answer, `{"done": RESULT}` or `{"failed":
WHY}`. The first line tells that the agent runs; it answers no request.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

ECHO_PORT = 21007
_LOST_SECONDS = 2.0
_PORTS = Path("/sys/class/virtio-ports")
# Before a program: it ends with whoever started it, however that ends.
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
_children: dict[str, subprocess.Popen[bytes]] = {}


def run(argv: Sequence[str], within_seconds: float) -> dict[str, Any]:
    """Runs a program to its end; returns `status`, `stdout` and `stderr`.

    Raises subprocess.TimeoutExpired after `within_seconds`, OSError if it cannot be started.
    """
    done = subprocess.run(
        argv,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=within_seconds,
    )
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def start(name: str, argv: Sequence[str], log: str) -> None:
    """Starts a program that goes on until the agent ends; its output is appended to a file."""
    with Path(log).open("ab") as output:
        _children[name] = subprocess.Popen(
            [*TIED, *argv], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )


def ended(name: str) -> int | None:
    """Returns the exit status of a program that `start` started; None while it runs."""
    return _children[name].poll()


def write(path: str, text: str) -> None:
    """Writes to a file, as sysfs wants it: in one piece."""
    Path(path).write_text(text)


def read(path: str) -> str:
    """Returns the text of a file."""
    return Path(path).read_text(errors="replace")


def target(path: str) -> str:
    """Returns the name of the file that a symbolic link leads to. Raises OSError without it."""
    return Path(path).resolve(strict=True).name


def port(name: str) -> str:
    """Returns the device of a virtio port: without udev there is no /dev/virtio-ports.

    Raises StopIteration if no port has this name.
    """
    found = (entry for entry in _PORTS.iterdir() if (entry / "name").read_text().strip() == name)
    return f"/dev/{next(found).name}"


def exchange(address: str, count: int) -> dict[str, Any]:
    """Sends up to `count` datagrams to a node's echo, each after the answer to the last.

    It stops at the first that is lost. Returns how many were `answered`, and `seen_as`: the
    addresses that the other end saw.
    """
    answered, seen_as = 0, set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, suppress(OSError):
        one.settimeout(_LOST_SECONDS)
        one.connect((address, ECHO_PORT))
        for number in range(count):
            one.send(str(number).encode())
            seen_as.add(one.recv(64).decode())
            answered += 1
    return {"answered": answered, "seen_as": sorted(seen_as)}


def _echo() -> None:
    """Answers every datagram with the address that it came from."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("", ECHO_PORT))
        while True:
            with suppress(OSError):  # an ICMP error of an earlier answer
                source = one.recvfrom(64)[1]
                one.sendto(source[0].encode(), source)


_DOES: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (run, start, ended, write, read, target, port, exchange)
}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"done": _DOES[request.pop("do")](**request)}
    except (OSError, ValueError, LookupError, StopIteration, subprocess.SubprocessError) as wrong:
        return {"failed": f"{type(wrong).__name__}: {wrong}"}


def _say(channel: BinaryIO, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[channel.write(data) :]


def main(name: str) -> None:
    """Serves requests until the other end of the channel is closed."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    threading.Thread(target=_echo, daemon=True).start()
    there = int(name) if name.isdecimal() else os.open(port(name), os.O_RDWR)
    with open(there, "rb") as lines, open(os.dup(there), "wb", buffering=0) as channel:
        _say(channel, {"done": name})
        for line in lines:
            _say(channel, _answer(json.loads(line)))


if __name__ == "__main__":
    main(sys.argv[1])
