"""Runs pip, and shows how far its downloads are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from vas_core.process import CommandFailed, Completed, follow
from vas_core.progress import waiting

_DOWNLOAD = re.compile(r"Downloading (?:\S*/)?([^\s/]+) \(([0-9.]+ \w+)\)")
# pip's own first words of the steps that follow, which take a minute for Spark.
_STEPS = {
    "Preparing metadata": "unpacked",
    "Building wheel": "building a wheel of it",
    "Installing collected packages": "installing",
}


class PipSteps:
    """The step that pip is at, by the lines it prints and the files in its directory of downloads.

    `temporary` is the directory that pip has as TMPDIR.
    """

    def __init__(self, temporary: Path) -> None:
        self._temporary = temporary
        self._file = self._size = self._step = ""
        self.lines: list[str] = []
        """The lines that pip has printed."""

    def hear(self, line: str) -> None:
        """Takes the next line of pip's."""
        self.lines.append(line)
        if found := _DOWNLOAD.search(line):
            self._file, self._size, self._step = found[1], found[2], ""
        for words, step in _STEPS.items():
            if line.strip().startswith(words):
                self._step = step

    def text(self) -> str:
        """Returns the step in words: `pyspark-4.2.0.tar.gz, 120 MB of 434.1 MB`."""
        if not self._file:
            return self._step or "asking for the files"
        if self._step:
            return f"{self._file}, {self._step}"
        return f"{self._file}, {self._written()}{self._size}"

    def _written(self) -> str:
        # pip writes a file there from its first byte on, and counts in units of 1000.
        for file in self._temporary.glob(f"pip-unpack-*/{self._file}"):
            with suppress(FileNotFoundError):
                return f"{file.stat().st_size / 1e6:.1f} MB of "
        return ""


def install_by_pip(python: Path, words: Sequence[str | Path], title: str) -> None:
    """Runs `pip install` of a Python, and shows progress after `title` when it takes long.

    pip's temporary files lie in that Python's environment meanwhile, as they need more room than
    /tmp may have. Raises CommandFailed if pip fails.
    """
    options = ("--disable-pip-version-check", "--progress-bar", "off", "--require-hashes")
    argv = [python, "-P", "-m", "pip", "install", *options, *words]
    with TemporaryDirectory(dir=python.parents[1]) as temporary:
        steps = PipSteps(Path(temporary))
        with waiting(title, steps.text):
            status = follow(argv, steps.hear, env={**os.environ, "TMPDIR": temporary})
    if status:
        printed = "\n".join(steps.lines)
        failed = Completed(tuple(map(str, argv)), status, printed, "")
        raise CommandFailed(failed, f"exit status {status}")
