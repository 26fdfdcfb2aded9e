"""Checks whether locks behave as the mount's mode (flock, localflock, noflock) promises."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_cluster.model import Flock
from vas_cluster.mounts import LustreMount, lustre_mounts

_TRY = (
    "import errno, fcntl, os, sys\n"
    "f = os.open(sys.argv[1], os.O_RDWR)\n"
    "try: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    "except OSError as e: print(errno.errorcode[e.errno])\n"
    "else: print('granted')\n"
)
_GRANTED = "granted"


@dataclass(frozen=True)
class LockAnswers:
    """The results of flock(), and, while it is held, of another process' flock() and fcntl()."""

    own: str
    other: str
    second_kind: str


# Captured of 2.17: flock() and fcntl() of one file conflict where Lustre itself keeps the locks.
EXPECTED = {
    Flock.FLOCK: LockAnswers(_GRANTED, "EAGAIN", "EAGAIN"),
    Flock.LOCALFLOCK: LockAnswers(_GRANTED, "EAGAIN", _GRANTED),
    Flock.NOFLOCK: LockAnswers("ENOSYS", "ENOSYS", "ENOSYS"),
}


def _locks(place: AcceptancePlace) -> str:
    mounts = mounted(place)
    here = next((mount for mount in mounts if mount.point == place.mount), None)
    if here is None:
        raise NotApplicable(f"/proc/self/mounts has no Lustre at {place.mount}")
    cluster = place.options.cluster
    is_mapped = cluster is not None and cluster.lustre.fsname == place.fsname
    if cluster and is_mapped and cluster.lustre.flock is not here.mode:
        wanted = cluster.lustre.flock.value
        fix = f"mount with {wanted}, or change lustre.flock in the map"
        raise Deviation(f"mounted with {wanted}, as the map says", here.mode.value, fix=fix)
    path = place.own("locks") / "file"
    path.touch()
    told = []
    for mount in (m for m in mounts if m.source == here.source):
        there = mount.point / path.relative_to(here.point)
        seen = _answers(place, there, there)
        if seen != EXPECTED[mount.mode]:
            where = f"{mount.mode.value} at {mount.point}"
            raise Deviation(f"{where}: {EXPECTED[mount.mode]}", f"{seen}")
        told.append(f"{mount.mode.value}: {seen.own}, then {seen.other}")
    return "; ".join([*told, _second(place, here, mounts, path)])


def mounted(place: AcceptancePlace) -> list[LustreMount]:
    """Returns this machine's mounts of Lustre clients."""
    return list(lustre_mounts(place.root.read("proc/self/mounts") or ""))


def _answers(place: AcceptancePlace, path: Path, from_elsewhere: Path) -> LockAnswers:
    descriptor = os.open(path, os.O_RDWR)
    try:
        own = _tried(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
        argv: list[str | Path] = [sys.executable, "-P", "-c", _TRY, from_elsewhere]
        other = place.run(argv).stdout.strip()
        # Closing a second descriptor would drop fcntl()'s locks, so it is the same one.
        second = _tried(lambda: fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
    finally:
        os.close(descriptor)
    return LockAnswers(own, other, second)


def _tried(lock: object) -> str:
    assert callable(lock)
    try:
        lock()
    except OSError as refused:
        return errno.errorcode[refused.errno or 0]
    return _GRANTED


def _second(
    place: AcceptancePlace, here: LustreMount, mounts: list[LustreMount], path: Path
) -> str:
    """Locks through a second mount on this machine, which Lustre sees as another client."""
    same = [m for m in mounts if (m.source, m.mode) == (here.source, here.mode)]
    elsewhere = [mount for mount in same if mount.point != here.point]
    if not elsewhere or here.mode is Flock.NOFLOCK:
        return "no second mount in this mode, to see locks of two clients by"
    there = elsewhere[0].point / path.relative_to(here.point)
    seen = _answers(place, path, there).other
    wanted = "EAGAIN" if here.mode is Flock.FLOCK else _GRANTED
    if seen != wanted:
        raise Deviation(f"{here.mode.value}: {wanted} at {elsewhere[0].point}", seen)
    return f"{seen} through {elsewhere[0].point}"


CHECKS = (
    AcceptanceCheck(
        "locks",
        "Locks, by the mount's mode",
        _locks,
        "two writers of one file would not see each other: appends may be lost",
        "mount all clients with -o flock (docs/filesystem.md, One writer)",
    ),
)
