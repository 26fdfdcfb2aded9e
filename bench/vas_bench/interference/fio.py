"""fio: its command lines, and what its JSON says. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_bench.interference.scope import Direction, Pattern
from vas_core.errors import VasError

PROGRAM = "fio"
CLIENTS = 2
"""Number of clients: they read and write at once, each a file of its own."""

# A client's files stay as they are and in the cache as they are: their blocks were written
# before, and what another process pushes out of the cache is what is to be seen.
_ALL = ("--ioengine=psync", "--fallocate=none", "--invalidate=0", "--output-format=json")


@dataclass(frozen=True)
class Clients:
    """The clients' files: their directory, and their size all together.

    `direct`: past the client's own page cache (O_DIRECT).
    """

    directory: str
    files_bytes: int
    direct: bool = False


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Amount(_Model):
    """The amount that one client read, or wrote: bytes, bytes a second, milliseconds."""

    io_bytes: int
    bw_bytes: int
    runtime: int


class FioClient(_Model):
    """One client; `error` is an errno."""

    jobname: str
    error: int
    read: Amount
    write: Amount

    def amount(self, direction: Direction) -> Amount:
        """Returns the amount that it moved in one direction."""
        return self.read if direction == "read" else self.write


class Report(_Model):
    """The report that fio prints, as far as it is needed."""

    jobs: tuple[FioClient, ...]


def _argv(clients: Clients, *options: str) -> list[str]:
    each = ("--name=client", f"--directory={clients.directory}", f"--numjobs={CLIENTS}")
    size = f"--size={clients.files_bytes // CLIENTS}"
    direct = ("--direct=1",) if clients.direct else ()
    return [PROGRAM, *each, size, *_ALL, *direct, *options]


def writing_files(clients: Clients) -> list[str]:
    """Returns the command line that makes the clients' files and waits until the disk has them."""
    return _argv(clients, "--rw=write", "--bs=1M", "--end_fsync=1")


def reading_once(clients: Clients) -> list[str]:
    """Returns the command line that reads all files once, so that the server's cache has them."""
    return _argv(clients, "--rw=read", "--bs=1M")


def measuring(clients: Clients, pattern: Pattern, seconds: int) -> list[str]:
    """Returns the command line that reads, or overwrites, the files for so many seconds.

    A write is on the disk before the next one begins (O_DSYNC).
    """
    durable = ("--sync=dsync",) if pattern.direction == "write" else ()
    kind = (f"--rw={pattern.rw}", f"--bs={pattern.block}", *durable)
    return _argv(clients, *kind, "--time_based", f"--runtime={seconds}")


def throughput(stdout: str, direction: Direction) -> float:
    """Returns the bytes a second of all clients together, from what fio printed.

    Raises VasError for anything but a report of it, for a client that failed, and for one that
    moved nothing.
    """
    # Notes of fio's come before its report.
    start = 0 if stdout.startswith("{") else stdout.find("\n{") + 1
    try:
        clients = Report.model_validate_json(stdout[start:]).jobs
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise VasError(f"no report of fio's: {first['msg']}", where=PROGRAM) from wrong
    failed = [client for client in clients if client.error]
    if failed:
        raise VasError(f"{failed[0].jobname} failed with errno {failed[0].error}", where=PROGRAM)
    if not clients or any(not client.amount(direction).io_bytes for client in clients):
        raise VasError(f"a client's {direction} moved no byte", where=PROGRAM)
    return float(sum(client.amount(direction).bw_bytes for client in clients))
