"""Runs other programs: the one place where VAS starts one."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere, VasError

_ERROR_EXCERPT_CHARS = 4000
_echo: Callable[[str], object] | None = None


@dataclass(frozen=True)
class Completed:
    """A program that ended: its arguments, exit status and what it printed."""

    argv: tuple[str, ...]
    status: int
    stdout: str
    stderr: str

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(self.argv)


class CommandFailed(VasError):
    """A program ended with a status other than 0, or was stopped at its time-out."""

    def __init__(self, completed: Completed, reason: str) -> None:
        self.completed = completed
        parts = [f"{reason}: {completed.command}"]
        for name, text in (("stdout", completed.stdout), ("stderr", completed.stderr)):
            if text.strip():
                parts.append(f"{name}: {text.strip()[-_ERROR_EXCERPT_CHARS:]}")
        super().__init__("\n".join(parts))


def echo_programs(echo: Callable[[str], object] | None) -> None:
    """Calls `echo` with the command line of each program before it starts; None ends that."""
    global _echo
    _echo = echo


def run(
    argv: Sequence[str | Path],
    *,
    check: bool = True,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_seconds: float | None = None,
) -> Completed:
    """Runs a program to its end and returns what it printed.

    `argv` is a list: no shell ever sees it. File names that are not UTF-8 survive
    (surrogateescape). Raises CommandFailed on a non-zero status (unless `check` is false) and on a
    time-out, NotHere when the program does not exist, VasError when the directory `cwd` does not.
    """
    words = _started(argv)
    try:
        done = subprocess.run(
            words,
            check=False,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env=env,
            cwd=cwd,
            timeout=timeout_seconds,
        )
    except FileNotFoundError as missing:
        if cwd is not None and not cwd.is_dir():
            raise VasError("no such directory", where=str(cwd)) from missing
        raise _not_installed(words[0]) from missing
    except subprocess.TimeoutExpired as late:
        stopped = Completed(words, -1, _text(late.stdout), _text(late.stderr))
        raise CommandFailed(stopped, f"no end after {timeout_seconds:g} s") from late
    completed = Completed(words, done.returncode, done.stdout, done.stderr)
    if check and completed.status != 0:
        raise CommandFailed(completed, f"exit status {completed.status}")
    return completed


def follow(
    argv: Sequence[str | Path],
    heard: Callable[[str], None],
    env: Mapping[str, str] | None = None,
) -> int:
    """Runs a program to its end, passing on each line of its stdout and stderr as it comes.

    Returns its exit status. Raises NotHere when it does not exist.
    """
    words = _started(argv)
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
            env=env,
        )
    except FileNotFoundError as missing:
        raise _not_installed(words[0]) from missing
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            heard(line.rstrip("\n"))
    return process.returncode


def _started(argv: Sequence[str | Path]) -> tuple[str, ...]:
    words = tuple(str(word) for word in argv)
    if _echo is not None:
        _echo(shlex.join(words))
    return words


def _not_installed(program: str) -> NotHere:
    return NotHere(f"program {program!r} is not installed", hint="run `vas doctor` for the package")


def _text(output: bytes | str | None) -> str:
    if isinstance(output, bytes):
        return output.decode(errors="surrogateescape")
    return output or ""
