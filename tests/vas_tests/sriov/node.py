"""A node of the rig as the test uses it: commands in, results out, whether machine or namespace."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed

_ANSWER_SECONDS = 120.0
_LOOK_SECONDS = 1.0


class Node:
    """A host or guest of the rig, by the socket to its agent (`agent.py`).

    All methods raise VasError if the node does not answer in time, or is gone.
    """

    def __init__(self, name: str, channel: socket.socket) -> None:
        self.name, self._channel, self._heard = name, channel, b""
        # Answers come in the order of the questions: those to questions that were given up are
        # still to come.
        self._owed = 0

    def wait(self, timeout_seconds: float, may_come: Callable[[], bool] = lambda: True) -> None:
        """Waits until the node's agent runs.

        Raises VasError after the time, and as soon as `may_come` returns false.
        """

        def look() -> bool:
            if not may_come():
                raise VasError("ended before its agent ran", where=self.name)
            try:
                self._line(time.monotonic() + _LOOK_SECONDS, "its agent")
            except TimeoutError:
                return False
            return True

        poll(look, bool, timeout_seconds, f"the agent of {self.name}")

    def run(self, *argv: str | Path, timeout_seconds: float = _ANSWER_SECONDS) -> str:
        """Runs a program on the node and returns its stdout.

        Raises VasError unless its status is 0.
        """
        words = [str(word) for word in argv]
        done = self._ask("run", timeout_seconds + 5, argv=words, within_seconds=timeout_seconds)
        result = Completed(tuple(words), done["status"], done["stdout"], done["stderr"])
        if result.status:
            why = f"status {result.status}: {result.command}\n{result.stdout}{result.stderr}"
            raise VasError(why, where=self.name)
        return result.stdout

    def json(self, *argv: str) -> Any:
        """Runs a program on the node and returns the JSON that it prints; `[]` for no output.

        Raises VasError unless its status is 0.
        """
        return json.loads(self.run(*argv) or "[]")

    def start(self, name: str, argv: Sequence[str | Path]) -> None:
        """Starts a program on the node and returns at once; `ended` and `log` take its `name`.

        Raises VasError when the node does not answer.
        """
        words = [str(word) for word in argv]
        self._ask("start", name=name, argv=words, log=self._log(name))

    def ended(self, name: str) -> int | None:
        """Returns the exit status of the program that was started as `name`; None while it runs.

        Raises VasError if none was.
        """
        status: int | None = self._ask("ended", name=name)
        return status

    def log(self, name: str) -> str:
        """Returns what the program that was started as `name` has printed so far."""
        return self.read(self._log(name))

    def read(self, path: str) -> str:
        """Returns the text of a file on the node. Raises VasError if it cannot be read."""
        return str(self._ask("read", path=path))

    def write(self, path: str, text: str) -> None:
        """Writes to a file on the node, as to sysfs. Raises VasError if the kernel refuses."""
        self._ask("write", path=path, text=text)

    def target(self, path: str) -> str:
        """Returns the name of the file that a link leads to. Raises VasError without it."""
        return str(self._ask("target", path=path))

    def port(self, name: str) -> str:
        """Returns the device of the node's virtio port of this name. Raises VasError without it."""
        return str(self._ask("port", name=name))

    def exchange(self, address: str, count: int) -> tuple[int, list[str]]:
        """Sends up to `count` datagrams to another node's echo, one by one, until one is lost.

        Returns how many were answered, and the addresses of this node that the other end
        saw. Raises VasError when the node does not answer.
        """
        done = self._ask("exchange", address=address, count=count)
        return done["answered"], done["seen_as"]

    def _log(self, name: str) -> str:
        return f"/run/{name}.log"

    def _ask(self, do: str, timeout_seconds: float = _ANSWER_SECONDS, **arguments: Any) -> Any:
        self._channel.sendall(json.dumps({"do": do, **arguments}).encode() + b"\n")
        what = f"an answer to {do} {arguments}"
        deadline = time.monotonic() + timeout_seconds
        self._owed += 1
        try:
            while self._owed > 1:
                self._line(deadline, what)
                self._owed -= 1
            answer = self._line(deadline, what)
        except TimeoutError as late:
            raise VasError(f"waited {timeout_seconds:g} s for {what}", where=self.name) from late
        self._owed -= 1
        if "failed" in answer:
            raise VasError(f"{what}: {answer['failed']}", where=self.name)
        return answer["done"]

    def _line(self, deadline: float, what: str) -> Any:
        """The next answer, as it was given. Raises TimeoutError; VasError if nobody is there."""
        while b"\n" not in self._heard:
            self._channel.settimeout(max(0.01, deadline - time.monotonic()))
            piece = self._channel.recv(1 << 16)
            if not piece:
                raise VasError(f"is gone; wanted {what}", where=self.name)
            self._heard += piece
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line)
