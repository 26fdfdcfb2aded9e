"""Checks that VAS guesses no owner for a file that was released to the archive (HSM)."""

from __future__ import annotations

import json
import time
from pathlib import Path

from vas_accept.checks.layouts import FILE_BYTES, write
from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_core.process import Completed
from vas_layout.ownership import owned_bytes
from vas_layout.store import XattrStore

_ARCHIVE_SECONDS = 60.0
_POLL_SECONDS = 0.5


def _released(place: AcceptancePlace) -> str:
    if not place.options.hsm:
        raise NotApplicable("the user did not ask for a file to be archived: --hsm")
    directory = place.own("released")
    path = directory / "file"
    place.run([place.lfs.program, "setstripe", "-S", "64K", "-c", "-1", path])
    write(path)
    content = path.read_bytes()
    _archive(place, path)
    owned = owned_bytes(XattrStore().read(path), 0, FILE_BYTES)
    if set(owned) != {None}:
        raise Deviation("no byte of a released file has an OST", f"{dict(owned)}")
    (found,) = json.loads(place.vas("layout", "fix", "--split", "1M", "--json", directory).stdout)
    if found["result"] != "left alone":
        raise Deviation("fix leaves a released file alone", found["result"])
    if path.read_bytes() != content:
        raise Deviation("a released file comes back with its bytes", "with others")
    # Back on its OSTs it needs no copy in the archive.
    _hsm(place, "remove", path)
    return "released: no OST owns its bytes, fix leaves it alone, a read brings it back"


def _archive(place: AcceptancePlace, path: Path) -> None:
    done = _hsm(place, "archive", path)
    if done.status != 0:
        said = (done.stderr.strip().splitlines() or [f"status {done.status}"])[-1]
        raise NotApplicable(f"lfs hsm_archive: {said}")
    end = time.monotonic() + _ARCHIVE_SECONDS
    while "archived" not in (state := _hsm(place, "state", path).stdout):
        if time.monotonic() > end:
            raise NotApplicable(f"no copy tool archived it in {_ARCHIVE_SECONDS:.0f} s: {state}")
        time.sleep(_POLL_SECONDS)
    if (released := _hsm(place, "release", path)).status != 0:
        raise Deviation("an archived file is released", released.stderr.strip())


def _hsm(place: AcceptancePlace, action: str, path: Path) -> Completed:
    return place.run([place.lfs.program, f"hsm_{action}", path], check=False)


CHECKS = (
    AcceptanceCheck(
        "released",
        "A file that is released to the archive",
        _released,
        "maps of released files are sent anywhere, or `fix` recalls them all",
        "send `vas layout show --json FILE` and `lfs getstripe -y FILE` with the report",
    ),
)
