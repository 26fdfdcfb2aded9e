"""IOzone and fio: their command lines for one file, and what they print. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from vas_bench.interference.fio import throughput
from vas_bench.interference.patterns import Direction
from vas_core.errors import VasError

_RECORD_KIB = 1024


@dataclass(frozen=True)
class Speeds:
    """Bytes a second."""

    write: float
    read: float


class Program(Protocol):
    """One that writes a file and reads it, past the page cache."""

    name: str

    def commands(self, file: str, size_bytes: int) -> list[list[str]]:
        """Its command lines, in their order. The file is made by the first."""
        ...

    def speeds(self, printed: list[str]) -> Speeds:
        """From what they printed. Raises VasError for what says nothing of it."""
        ...


class Iozone:
    """What the papers measured with. Debian has it as iozone3, in non-free."""

    name = "iozone"
    # kB, record, write, rewrite, read, reread; speeds in kB a second.
    _ROW = re.compile(r"^\s*\d+\s+\d+\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s*$", re.MULTILINE)

    def commands(self, file: str, size_bytes: int) -> list[list[str]]:
        """Sequential, each pass until it is on the disk, without the page cache."""
        sizes = ["-s", f"{size_bytes >> 10}k", "-r", f"{_RECORD_KIB}k"]
        return [[self.name, "-i", "0", "-i", "1", *sizes, "-e", "-I", "-f", file]]

    def speeds(self, printed: list[str]) -> Speeds:
        """Of the first write and the first read."""
        row = self._ROW.search(printed[0])
        if row is None:
            raise VasError("it printed no speeds", where=self.name)
        return Speeds(*(float(kib) * 1024 for kib in row.groups()))


class Fio:
    """The same passes, with a program that is free."""

    name = "fio"

    def commands(self, file: str, size_bytes: int) -> list[list[str]]:
        """The same two passes."""
        each = [self.name, "--name=disk", f"--filename={file}", f"--size={size_bytes}"]
        each += [f"--bs={_RECORD_KIB}k", "--direct=1", "--ioengine=psync", "--output-format=json"]
        return [[*each, "--rw=write", "--end_fsync=1"], [*each, "--rw=read"]]

    def speeds(self, printed: list[str]) -> Speeds:
        """Of the two passes."""
        directions: tuple[Direction, Direction] = ("write", "read")
        write, read = (
            throughput(text, direction) for text, direction in zip(printed, directions, strict=True)
        )
        return Speeds(write, read)


PROGRAMS: tuple[Program, ...] = (Iozone(), Fio())
