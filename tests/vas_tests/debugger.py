"""Stops a JVM in a lab at a method, by `jdb` from outside its node."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_PORT = 5005
# A JVM's option with which `stops_at` reaches it. Each node of a lab has its own ports.
LISTENS = f"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{_PORT}"


class Debugger:
    """A `jdb` that is attached to a JVM."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def stop_in(self, method: str) -> None:
        """Sets a breakpoint at the beginning of a method, `CLASS.METHOD`.

        Raises AssertionError if the debugger ends, BrokenPipeError if it had ended before.
        """
        assert self._program.stdin is not None
        self._program.stdin.write(f"stop in {method}\n")
        self._program.stdin.flush()
        self._read_until("breakpoint ")

    def stopped(self) -> None:
        """Waits until the JVM stands at the breakpoint.

        Raises AssertionError if the JVM, and so the debugger, ends before.
        """
        self._read_until("Breakpoint hit")

    def _read_until(self, text: str) -> None:
        assert self._program.stdout is not None
        read = ""
        while text not in read:
            character = self._program.stdout.read(1)
            assert character, f"the debugger ended before '{text}': {read}"
            read += character


@contextmanager
def debugging(pid: int) -> Iterator[Debugger]:
    """Attaches a debugger to the JVM of this process id for the body.

    The JVM must have been started with the option `LISTENS`.
    """
    argv = ["nsenter", "--target", str(pid), "--net", "jdb", "-attach", f"127.0.0.1:{_PORT}"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        try:
            yield Debugger(program)
        finally:
            program.kill()
