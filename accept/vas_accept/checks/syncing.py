"""Measures the cost of fsync and close, in time and in requests."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from statistics import median

from vas_accept.outcome import AcceptanceCheck, Deviation
from vas_accept.place import AcceptancePlace
from vas_accept.statistics import requests_sent
from vas_core.shown import counted
from vas_layout.requests import stripes
from vas_layout.store import create_with_layout

FILES = 10
_BYTES = b"x" * 4096
MOST_SECONDS = 1.0
_MOST_STRIPES = 8
_TURNS = 3


def _time(place: AcceptancePlace) -> str:
    directory = place.own("sync")
    lazy = median(_write(directory / f"lazy-{n}", 1, sync=False) for n in range(FILES))
    synced = median(_write(directory / f"synced-{n}", 1, sync=True) for n in range(FILES))
    told = f"4 KiB written and closed in {lazy * 1e3:.1f} ms, with fsync in {synced * 1e3:.1f} ms"
    if synced > MOST_SECONDS:
        raise Deviation(f"a median of {MOST_SECONDS:.0f} s at most, of {FILES} files", told)
    return f"{told} (medians of {FILES})"


def _write(path: Path, count: int, *, sync: bool) -> float:
    """Writes a small file of that many stripes; returns the seconds of write, fsync and close."""
    create_with_layout(path, stripes(1 << 20, count))
    descriptor = os.open(path, os.O_WRONLY)
    started = time.perf_counter()
    try:
        os.write(descriptor, _BYTES)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return time.perf_counter() - started


def _requests(place: AcceptancePlace) -> str:
    directory, told = place.own("requests"), []
    requests_sent(place)
    for count in sorted({1, min(len(place.osts), _MOST_STRIPES)}):
        sent = _sent(place, directory, count)
        told.append(f"{FILES} files of {counted(count, 'stripe')}: {_words(sent)}")
    return "; ".join(told)


def _sent(place: AcceptancePlace, directory: Path, count: int) -> Counter[str]:
    """Returns the requests for files of that many stripes; others on this client may add theirs."""
    seen = []
    for turn in range(_TURNS):
        before = requests_sent(place)
        for number in range(FILES):
            _write(directory / f"{count}-{turn}-{number}", count, sync=True)
        sent = requests_sent(place) - before
        if sent["ost_sync"] == FILES * count:
            return sent
        seen.append(str(sent["ost_sync"]))
    what = f"{FILES * count} requests ost_sync for {FILES} files of {counted(count, 'stripe')}"
    raise Deviation(what, f"{', '.join(seen)} in {_TURNS} turns")


def _words(sent: dict[str, int]) -> str:
    names = ("ost_sync", "ost_glimpse", "ost_enqueue", "mdt_enqueue", "mds_close")
    return ", ".join(f"{sent[name]} {name}" for name in names if name in sent)


CHECKS = (
    AcceptanceCheck(
        "sync-time",
        "Time of fsync and close",
        _time,
        "each file that a job leaves waits so long for its close (docs/filesystem.md)",
        "look at the servers' disks and journals; vas.lustre.lazy-paths leaves files out",
    ),
    AcceptanceCheck(
        "sync-requests",
        "Requests of fsync, by stripes",
        _requests,
        "fsync costs other than an ost_sync for each object: many small files weigh otherwise",
        "send the report; compare `lctl get_param osc.*.stats` before and after",
    ),
)
