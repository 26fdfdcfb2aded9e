"""Checks layouts set without `lfs`, directories' defaults, and names that only one writer gets."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from vas_accept.outcome import AcceptanceCheck, Deviation
from vas_accept.place import AcceptancePlace
from vas_layout.codec import encode
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import Composite, Layout, Plain
from vas_layout.publish import publish
from vas_layout.requests import progressive, stripes
from vas_layout.store import XATTR_NAME, XattrStore, create_with_layout

MIB = 1 << 20
# So that the fallback to a process cannot hide that the attribute was refused.
_NO_PROCESS = Lfs(program="vas-accept-has-no-lfs")
_ROUNDS = 20


def _set(place: AcceptancePlace) -> str:
    directory, first, last = place.own("set"), place.osts[0], place.osts[-1]
    asked: dict[str, Layout] = {
        "stripes": stripes(MIB, -1),
        "start": stripes(2 * MIB, 1, start=last),
        "list": stripes(MIB, len({last, first}), osts=list(dict.fromkeys((last, first)))),
        "components": progressive([(MIB, stripes(MIB, 1)), (None, stripes(2 * MIB, -1))]),
    }
    for name, request in asked.items():
        path = directory / name
        made = create_with_layout(path, request, lfs=_NO_PROCESS)
        if made.adjusted:
            raise Deviation(f"{name}: the layout that was asked for", "; ".join(made.adjusted))
        path.write_bytes(b"x" * MIB)
        told = place.lfs.getstripe(path)
        if _shape(told) != _shape(made.layout):
            raise Deviation(f"{name}: lfs says {_shape(made.layout)}", f"{_shape(told)}")
        if isinstance(request, Plain) and request.objects and isinstance(told, Plain):
            osts = [each.ost_idx for each in told.objects]
            if osts != [each.ost_idx for each in request.objects]:
                raise Deviation(f"the OSTs {last}, {first} in this order", f"{osts}")
    return f"{', '.join(asked)}: each as asked for, by mknod and setxattr; {_late(directory)}"


def _late(directory: Path) -> str:
    """Sets the attribute of a file that a plain open made, which Lustre ignores."""
    path = directory / "open"
    path.touch()
    before = XattrStore().read(path)
    try:
        XattrStore().write(path, stripes(64 << 10, 1))
    except LayoutUnavailableError as refused:
        return f"a file with a layout refuses another ({refused.what})"
    if _shape(XattrStore().read(path)) == _shape(before):
        return "a file with a layout ignores another"
    return "a file with a layout takes another, which VAS never asks for"


def _shape(layout: object) -> object:
    if isinstance(layout, Plain):
        return layout.stripe_size, layout.stripe_count, layout.stripe_offset
    if isinstance(layout, Composite):
        return [(c.extent_start, c.extent_end) for c in layout.components]
    return layout


def _inherit(place: AcceptancePlace) -> str:
    directory = place.own("default")
    request = stripes(2 * MIB, -1)
    os.setxattr(directory, XATTR_NAME, encode(request))
    (directory / "below").mkdir()
    for path in (directory / "file", directory / "below" / "file"):
        path.write_bytes(b"x")
        made = XattrStore().read(path)
        size = made.stripe_size if isinstance(made, Plain) else 0
        if size != request.stripe_size:
            raise Deviation(f"{path.name} has stripes of 2 MiB, as its directory", f"{size} bytes")
    return "files in it, and in a directory below, have the stripes that were set"


def _one_winner(place: AcceptancePlace) -> str:
    directory = place.own("names")
    for number in range(_ROUNDS):
        final = directory / f"final-{number}"
        hidden = [directory / f"hidden-{number}-{writer}" for writer in "ab"]
        for path in hidden:
            path.write_text(path.name)
        won: list[str] = []
        ready = threading.Barrier(len(hidden))
        threads = [threading.Thread(target=_race, args=(p, final, ready, won)) for p in hidden]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(won) != 1 or final.read_text() != won[0]:
            raise Deviation(
                f"of 2 that publish one name one wins, in each of {_ROUNDS} rounds",
                f"round {number}: {len(won)} won",
            )
    return f"{_ROUNDS} races for one name had one winner each, whose bytes are there"


def _race(hidden: Path, final: Path, ready: threading.Barrier, won: list[str]) -> None:
    ready.wait()
    try:
        publish(hidden, final)
    except LayoutUnavailableError:
        return
    won.append(hidden.name)


CHECKS = (
    AcceptanceCheck(
        "set-without-process",
        "Layouts set by mknod and setxattr",
        _set,
        "each file that a job makes would need an lfs process, some 100 ms",
        "send the report; VAS falls back to `lfs setstripe` where the attribute is refused",
    ),
    AcceptanceCheck(
        "directory-default",
        "A directory's default, inherited",
        _inherit,
        "files of other programs would not have the stripes that VAS sets for a directory",
        "see `lfs getstripe -d` of the directory; send the report",
    ),
    AcceptanceCheck(
        "one-winner",
        "One of many that publish a name wins",
        _one_winner,
        "two writers may replace each other's output: bytes would be lost",
        "do not run jobs here; send the report",
    ),
)
