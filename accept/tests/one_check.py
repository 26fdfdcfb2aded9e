"""Runs one check in a process of its own, with one thing broken first; prints the result as JSON.

The library of the stand-in is in the process, so that what is broken here is what the check meets.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vas_accept import place as places
from vas_accept.catalogue import chosen
from vas_accept.checks import copying, owners, setting, space, syncing
from vas_accept.place import AcceptanceOptions, AcceptancePlace
from vas_accept.run import own_directory, run_check
from vas_cluster import load_cluster
from vas_core.root import Root


def no_setxattr() -> None:
    """The kernel takes the attribute, and does nothing: as on a file that has a layout."""
    os.setxattr = lambda *_arguments, **_more: None  # type: ignore[assignment]


def rename_replaces() -> None:
    """Publishing replaces what is there, as rename(2) does."""
    setting.publish = os.replace  # type: ignore[attr-defined]


_FORGET = """
import glob, os, sys
for path in glob.glob(os.path.dirname(sys.argv[-1]) + "/.vas-put-*"):
    os.unlink(path)
os.execv(sys.executable, [sys.executable, "-P", "-m", "vas_core", *sys.argv[1:]])
"""


def forgetful_put() -> None:
    """A put loses what an earlier one wrote before it was killed."""
    forget = (sys.executable, "-P", "-c", _FORGET)
    places.VAS = copying.VAS = forget  # type: ignore[assignment,attr-defined]


def slow_fsync() -> None:
    """Each fsync takes longer than a site can bear."""
    syncing.FILES = 1
    fsync = os.fsync
    os.fsync = lambda fd: (time.sleep(syncing.MOST_SECONDS + 0.1), fsync(fd))[1]  # type: ignore[assignment]


def no_fsync() -> None:
    """An fsync asks no OST."""
    os.fsync = lambda _fd: None  # type: ignore[assignment]


def little_room() -> None:
    """The bound of what a check may write is below the room that there is."""
    space.MOST_BYTES = 2 << 20


def little_quota() -> None:
    """Makes the check an ordinary user's; the stand-in sets users no quota."""
    little_room()
    os.geteuid = lambda: 65534


def impatient() -> None:
    """A failover settles at once, or never."""
    owners._SETTLE_SECONDS = 1.0


def main(mount: str, name: str, broken: str, options: dict[str, Any]) -> None:
    """Breaks one thing, runs the check and prints the result."""
    breaks: dict[str, Callable[[], None]] = {
        each.__name__: each
        for each in (
            no_setxattr,
            rename_replaces,
            forgetful_put,
            slow_fsync,
            no_fsync,
            little_room,
            little_quota,
            impatient,
        )
    }
    root = Root(Path(options.pop("root", "/")))
    if cluster := options.pop("cluster", None):
        options["cluster"] = load_cluster(Path(cluster))
    if directory := options.pop("quota_directory", None):
        options["quota_directory"] = Path(directory)
    (check,) = (each for each in chosen([name]) if each.name == name)
    with own_directory(Path(mount)) as made:
        place = AcceptancePlace(directory=made, options=AcceptanceOptions(**options), root=root)
        assert place.mount  # found before anything is broken
        if broken:
            breaks[broken]()
        print(json.dumps(run_check(check, place).as_json()))


if __name__ == "__main__":
    main(*sys.argv[1:4], json.loads(sys.argv[4]))  # type: ignore[call-arg,arg-type]
