"""Checks that a machine can run a lab, for `vas doctor`."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vas_core.doctor import DoctorFinding
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.repository import labs_directory
from vas_core.root import Root
from vas_core.sizes import format_size
from vas_lab.disk import free_bytes
from vas_lab.procfs import available_memory
from vas_lab.sites import memory_needed

_APPARMOR = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"  # Ubuntu's, 1 since 24.04
_SYSCTL = "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=1000, or run as root"
_HOSTS = 4
_DISK_BYTES = 6 << 30


def check(root: Root) -> Iterator[DoctorFinding]:
    """Yields findings: whether this machine can run a lab of four hosts."""
    chosen = labs_directory()
    directory = next(path for path in (chosen, *chosen.parents) if path.exists())
    yield _namespaces(root)
    yield _state(directory)
    yield _disk(directory)
    yield _memory(root)


def _namespaces(root: Root) -> DoctorFinding:
    try:
        rootless = run(["unshare", "-Urmpnf", "true"], check=False)
        if rootless.status == 0:
            return _finding("namespaces", True, "rootless: the lab runs in a user namespace")
        as_root = run(["unshare", "-mpnf", "true"], check=False).status == 0
    except VasError as missing:
        return _finding("namespaces", False, missing.what, "install unshare (see above)")
    why, fix = _of_namespaces(root, rootless.stderr)
    found = "root only" if as_root else rootless.stderr.strip()
    return _finding("namespaces", as_root, found + why, fix)


def _of_namespaces(root: Root, said: str) -> tuple[str, str]:
    """Returns why user namespaces are refused, if what `unshare` said tells it, and the fix."""
    if root.read(_APPARMOR) == "1" and os.strerror(errno.ENOSPC) not in said:
        allowed = "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        fix = f"run as root; or, until the next boot, {allowed}"
        return ": AppArmor keeps user namespaces for programs with a profile", fix
    return "", _SYSCTL


def _state(directory: Path) -> DoctorFinding:
    """Whether the lab can keep its files there, with stripe layouts in user xattrs."""
    try:
        with tempfile.NamedTemporaryFile(dir=directory) as probe:
            try:
                os.setxattr(probe.name, "user.vas.probe", b"x")
            except OSError as refused:
                fix = "set VAS_LABS to a directory on ext4, XFS or btrfs: layouts are user xattrs"
                return _finding("lab files", False, f"{directory}: {refused.strerror}", fix)
    except OSError as refused:
        found = f"{directory} is not writable: {refused.strerror}"
        return _finding("lab files", False, found, "set VAS_LABS to one that is")
    return _finding("lab files", True, f"{directory}: writable, with user xattrs")


def _disk(directory: Path) -> DoctorFinding:
    fix = f"free disk space: jars, logs and data want {format_size(_DISK_BYTES)}"
    free = free_bytes(directory)
    return _finding("disk", free >= _DISK_BYTES, f"{format_size(free)} free at {directory}", fix)


def _memory(root: Root) -> DoctorFinding:
    available, wanted = available_memory(root), memory_needed(_HOSTS)
    fix = f"free memory: a lab of {_HOSTS} hosts wants {format_size(wanted)}, or give --hosts 2"
    return _finding("memory", available >= wanted, f"{format_size(available)} available", fix)


def _finding(name: str, ok: bool, found: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(
        name=name, ok=ok, found=found, needed_for="demo, test, lab, bench", fix=fix
    )
