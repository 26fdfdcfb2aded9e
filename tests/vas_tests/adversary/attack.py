"""An attack from outside: the files an attacker leaves, and the command that meets them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# More than any of these commands needs, less than a bomb takes.
_MEMORY_BYTES = 4 << 30
_SECONDS = 60


@dataclass(frozen=True)
class Attack:
    """An attack: the files that are planted, the command that meets them, and the right answer.

    `plant` makes the attacker's files in an empty directory and returns the words behind `vas`. The
    command has to end by itself with `status`, print `says` in one line of stderr and no traceback,
    within bounds of memory and time.
    """

    name: str
    plant: Callable[[Path], list[str]]
    status: int
    says: tuple[str, ...]
    silent: tuple[str, ...] = ()
    """What must be printed nowhere: another's secret, a control character."""
    lines: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """The end of the attacked command: its exit status, stdout and stderr."""

    status: int
    out: str
    error: str


def run_vas(words: list[str], directory: Path, environment: Mapping[str, str]) -> Ended:
    """Runs `vas` in a directory with bounds on its memory (4 GiB) and time, and returns its end.

    Raises subprocess.TimeoutExpired after a minute, which fails the test.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("VAS_")}
    done = subprocess.run(
        [sys.executable, "-m", "vas_core", *words],
        cwd=directory, env=variables | dict(environment), stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=_SECONDS, preexec_fn=_bounded,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode())


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def check(attack: Attack, directory: Path) -> None:
    """Plants the attacker's files, runs the command, and asserts the right answer.

    The command must also leave every file in `directory` as it was.
    """
    words = attack.plant(directory)
    before = _contents(directory)
    ended = run_vas(words, directory, attack.environment)
    told = f"status {ended.status}, stdout {ended.out[:500]!r}, stderr {ended.error[:3000]!r}"
    assert ended.status == attack.status, told
    assert "Traceback" not in ended.error, told
    assert ended.error.count("\n") <= attack.lines, told
    assert all(words in ended.error for words in attack.says), told
    both = ended.out + ended.error
    assert not any(words in both for words in attack.silent), told
    assert _contents(directory) == before, "the command changed what it was given"


def _contents(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Each name below a directory: kind and mode, size and modification time."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        size = 0 if path.is_dir() else status.st_size
        found[str(path)] = (status.st_mode, size, status.st_mtime_ns if not path.is_dir() else 0)
    return found
