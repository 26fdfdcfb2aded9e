"""Fills a small pool, or a quota, and checks how `vas layout put` fails there."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_core.sizes import format_size
from vas_layout.errors import LayoutUnavailableError
from vas_layout.requests import stripes
from vas_layout.store import create_with_layout

MIB = 1 << 20
MOST_BYTES = 256 * MIB
_SOURCE_BYTES = 4 * MIB


def _full_pool(place: AcceptancePlace) -> str:
    pool = place.options.small_pool
    if pool is None:
        raise NotApplicable("no pool with little room was given: --small-pool POOL")
    directory = place.own("full")
    fill = partial(create_with_layout, request=stripes(MIB, 1, pool=pool))
    return _filled(place, directory, fill, errno.ENOSPC, ("--pool", pool))


def _quota(place: AcceptancePlace) -> str:
    given = place.options.quota_directory
    if given is None:
        raise NotApplicable("no directory with a small quota was given: --quota-dir DIR")
    if os.geteuid() == 0:
        raise NotApplicable("no quota binds root: --as USER")
    with tempfile.TemporaryDirectory(dir=given, prefix=".vas-accept-") as name:
        directory = Path(name)
        fill = partial(create_with_layout, request=stripes(MIB, 1))
        return _filled(place, directory, fill, errno.EDQUOT, ())


def _filled(
    place: AcceptancePlace,
    directory: Path,
    create: Callable[[Path], object],
    wanted: int,
    words: tuple[str, ...],
) -> str:
    """Fills until it is refused, and puts a file there, which must be refused in one line."""
    ballast = directory / "ballast"
    name = errno.errorcode[wanted]
    # Where the source lies costs no room of what is full.
    with tempfile.TemporaryDirectory(prefix="vas-accept-") as elsewhere:
        source = Path(elsewhere) / "source"
        source.write_bytes(os.urandom(_SOURCE_BYTES))
        written = _fill(ballast, create, wanted)
        final = directory / "copy"
        put: tuple[str | Path, ...] = ("layout", "put", "--split", "1M", *words, source, final)
        done = place.vas(*put, check=False)
        lines = done.stderr.strip().splitlines()
        errors = [line for line in lines if line.startswith("vas: ")]
        if done.status == 0 or final.exists():
            raise Deviation(f"put is refused with {name}", f"status {done.status}, it is there")
        if len(errors) != 1 or "Traceback" in done.stderr:
            raise Deviation("one line that says why put failed", done.stderr.strip()[-400:])
    return f"{name} after {format_size(written)}; put says: {errors[0].removeprefix('vas: ')}"


def _fill(ballast: Path, create: Callable[[Path], object], wanted: int) -> int:
    """Writes until it is refused with that errno; returns the bytes written."""
    written = 0
    try:
        create(ballast)
        with ballast.open("r+b", buffering=0) as stream:
            for _ in range(MOST_BYTES // MIB):
                written += stream.write(os.urandom(MIB))
            os.fsync(stream.fileno())
    except (OSError, LayoutUnavailableError) as refused:
        if refused.errno == wanted:
            return written
        raise
    room = format_size(written)
    raise Deviation(
        f"{errno.errorcode[wanted]} within {format_size(MOST_BYTES)}",
        f"{room} were written",
        meaning="there is more room than this check may take: it was not made",
        fix="give a pool or a quota with less room",
    )


CHECKS = (
    AcceptanceCheck(
        "full-pool",
        "ENOSPC of a pool that is full",
        _full_pool,
        "a full OST is not told, or a copy that is not whole gets its name",
        "send the report, and what `lfs df` of the pool says",
    ),
    AcceptanceCheck(
        "quota",
        "EDQUOT of a quota that is used up",
        _quota,
        "a used-up quota is not told, or a copy that is not whole gets its name",
        "send the report, and what `lfs quota` says of the user and the project",
    ),
)
