"""IOzone and fio: their command lines for one file, and what they print. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vas_bench.interference.fio import throughput
from vas_bench.interference.scope import Direction
from vas_core.errors import VasError

_RECORD_KIB = 1024


@dataclass(frozen=True)
class Speeds:
    """Speeds of writing and reading, in bytes a second."""

    write: float
    read: float


class Iozone:
    """IOzone, the program of the papers. Debian has it as iozone3, in non-free."""

    name = "iozone"
    # kB, record, write, rewrite, read, reread; speeds in kB a second.
    _ROW = re.compile(r"^\s*\d+\s+\d+\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s*$", re.MULTILINE)

    def commands(self, file: str, size_bytes: int) -> list[list[str]]:
        """Returns one command of sequential passes (O_DIRECT), each until the disk has it."""
        sizes = ["-s", f"{size_bytes >> 10}k", "-r", f"{_RECORD_KIB}k"]
        return [[self.name, "-i", "0", "-i", "1", *sizes, "-e", "-I", "-f", file]]

    def speeds(self, printed: list[str]) -> Speeds:
        """Returns the speeds of the first write and read. Raises VasError without them."""
        row = self._ROW.search(printed[0])
        if row is None:
            raise VasError("it printed no speeds", where=self.name)
        return Speeds(*(float(kib) * 1024 for kib in row.groups()))


class Fio:
    """The program fio with IOzone's passes; unlike IOzone it is free software."""

    name = "fio"

    def commands(self, file: str, size_bytes: int) -> list[list[str]]:
        """Returns the command lines of a write, which makes the file, and of a read (O_DIRECT)."""
        each = [self.name, "--name=disk", f"--filename={file}", f"--size={size_bytes}"]
        each += [f"--bs={_RECORD_KIB}k", "--direct=1", "--ioengine=psync", "--output-format=json"]
        return [[*each, "--rw=write", "--end_fsync=1"], [*each, "--rw=read"]]

    def speeds(self, printed: list[str]) -> Speeds:
        """Returns the speeds of the two passes. Raises VasError without them."""
        directions: tuple[Direction, Direction] = ("write", "read")
        write, read = (
            throughput(text, direction) for text, direction in zip(printed, directions, strict=True)
        )
        return Speeds(write, read)


DiskProgram = Iozone | Fio
"""A program that writes a file and reads it, past the page cache."""
PROGRAMS: tuple[DiskProgram, ...] = (Iozone(), Fio())
