"""Makes a cgroup as a host of limited memory, and in it the storage server and the guest.

Version 1 and 2 of cgroups; what is written where is planned first (`plan`), then done.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from vas_bench.interference.sizes import HostSizes
from vas_core.errors import NotHere, VasError
from vas_core.polling import poll
from vas_core.root import Root

GroupName = Literal["server", "guest"]
_TOP = "sys/fs/cgroup"
_NAME = "vas-interference"
_PERIOD_MICROSECONDS = 100_000
_REMOVE_SECONDS = 20.0


@dataclass(frozen=True)
class CgroupPlan:
    """Directories to make, outer ones first, and then what to write into which file, in order."""

    directories: tuple[str, ...]
    writes: tuple[tuple[str, str], ...]
    groups: dict[GroupName, tuple[str, ...]] = field(default_factory=dict)


def version(root: Root) -> int:
    """Returns 1 or 2: the version of cgroups that has the controllers of memory and CPU.

    Raises NotHere if neither has.
    """
    controllers = root.read(f"{_TOP}/cgroup.controllers")
    if controllers is not None and {"cpu", "memory"} <= set(controllers.split()):
        return 2
    if root.names(f"{_TOP}/memory") and root.names(f"{_TOP}/cpu"):
        return 1
    raise NotHere("no cgroups for memory and CPU", where=f"/{_TOP}", hint="mount them, as systemd")


def plan(version: int, sizes: HostSizes, name: str = _NAME) -> CgroupPlan:
    """Plans memory for the host, and memory and CPUs for the guest; the server has the rest."""
    return _plan_2(sizes, name) if version == 2 else _plan_1(sizes, name)


def _plan_2(sizes: HostSizes, name: str) -> CgroupPlan:
    host = f"{_TOP}/{name}"
    server, guest = f"{host}/server", f"{host}/guest"
    quota = sizes.guest_cpus * _PERIOD_MICROSECONDS
    writes = (
        (f"{_TOP}/cgroup.subtree_control", "+cpu +memory"),
        (f"{host}/cgroup.subtree_control", "+cpu +memory"),
        (f"{host}/memory.max", str(sizes.host_bytes)),
        (f"{guest}/memory.max", str(sizes.guest_bytes)),
        (f"{guest}/cpu.max", f"{quota} {_PERIOD_MICROSECONDS}"),
    )
    return CgroupPlan((host, server, guest), writes, {"server": (server,), "guest": (guest,)})


def _plan_1(sizes: HostSizes, name: str) -> CgroupPlan:
    memory, cpu = (f"{_TOP}/{controller}/{name}" for controller in ("memory", "cpu"))
    directories = tuple(f"{at}{part}" for at in (memory, cpu) for part in ("", "/server", "/guest"))
    writes = (
        (f"{memory}/memory.limit_in_bytes", str(sizes.host_bytes)),
        (f"{memory}/guest/memory.limit_in_bytes", str(sizes.guest_bytes)),
        (f"{cpu}/guest/cpu.cfs_period_us", str(_PERIOD_MICROSECONDS)),
        (f"{cpu}/guest/cpu.cfs_quota_us", str(sizes.guest_cpus * _PERIOD_MICROSECONDS)),
    )
    groups: dict[GroupName, tuple[str, ...]] = {
        "server": (f"{memory}/server", f"{cpu}/server"),
        "guest": (f"{memory}/guest", f"{cpu}/guest"),
    }
    return CgroupPlan(directories, writes, groups)


@dataclass(frozen=True)
class Groups:
    """The cgroups on this machine. Get them by `made`."""

    root: Root
    planned: CgroupPlan

    def move(self, group: GroupName, processes: Iterable[int]) -> None:
        """Moves processes to a cgroup; what they start later is in it too.

        Raises VasError if one has ended.
        """
        for process in processes:
            for directory in self.planned.groups[group]:
                _write(self.root, f"{directory}/cgroup.procs", str(process))

    def entering(self, group: GroupName, argv: Iterable[str]) -> list[str]:
        """Returns the command line that runs a program in a cgroup."""
        files = [str(self.root.path(f"{at}/cgroup.procs")) for at in self.planned.groups[group]]
        return ["sh", "-euc", _ENTER, "sh", *files, "--", *argv]


# 0 is whoever writes it.
_ENTER = 'while [ "$1" != -- ]; do echo 0 >"$1"; shift; done; shift; exec "$@"'


@contextmanager
def made(root: Root, sizes: HostSizes, name: str = _NAME) -> Iterator[Groups]:
    """Makes the cgroups and removes them after the body; processes in them must end before.

    Raises NotHere where they cannot be made, VasError where another command has them.
    """
    planned = plan(version(root), sizes, name)
    _remove(root, planned, "they are there, and in use: is another such command running?", 0)
    try:
        for directory in planned.directories:
            _make(root, directory)
        for file, value in planned.writes:
            _write(root, file, value)
        yield Groups(root, planned)
    finally:
        _remove(root, planned, "a process in them lives on", _REMOVE_SECONDS)


def _make(root: Root, directory: str) -> None:
    try:
        root.path(directory).mkdir()
    except OSError as refused:
        raise NotHere(
            f"no cgroup can be made: {refused.strerror}", where=f"/{directory}", hint="run as root"
        ) from refused


def _write(root: Root, file: str, value: str) -> None:
    try:
        root.path(file).write_text(f"{value}\n")
    except OSError as refused:
        raise VasError(f"refuses {value}: {refused.strerror}", where=f"/{file}") from refused


def _remove(root: Root, planned: CgroupPlan, busy: str, seconds: float) -> None:
    for directory in reversed(planned.directories):
        poll(partial(_removed, root, directory), bool, seconds, f"/{directory}: {busy}")


def _removed(root: Root, directory: str) -> bool:
    try:
        root.path(directory).rmdir()
    except FileNotFoundError:
        return True
    except OSError as refused:
        # A process that was killed leaves its group a moment later.
        if refused.errno == errno.EBUSY:
            return False
        raise VasError(f"cannot be removed: {refused.strerror}", where=f"/{directory}") from refused
    return True
