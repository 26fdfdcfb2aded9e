"""Prints the results of `vas layout`: tables and notes, or JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from vas_core.cli import note, print_json
from vas_core.shown import counted, shown
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_layout.as_json import layout_json
from vas_layout.ingest import Ingested
from vas_layout.locate import OwnedSpan, OwnershipTotals
from vas_layout.mismatch import LeftAlone, Mismatch
from vas_layout.model import Layout
from vas_layout.planning import StripePlan
from vas_layout.table import layout_rows


def print_layouts(found: list[tuple[Path, Layout]], as_json: bool) -> None:
    """Prints the layouts of paths, one row for each component."""
    if as_json:
        print_json([{"path": _shown(path), "layout": layout_json(one)} for path, one in found])
    elif found:
        columns = ("path", "extent", "stripes", "size", "OSTs", "pool", "pattern", "flags")
        print_table(columns, (row for path, one in found for row in layout_rows(str(path), one)))


def print_owned_spans(path: Path, size: int, found: Iterable[OwnedSpan], as_json: bool) -> None:
    """Prints the byte ranges of a file with their owners."""
    if as_json:
        print_json({"path": _shown(path), "size": size, "ranges": [_placed(p) for p in found]})
    else:
        columns = ("offset", "length", "OST", "OSS", "VM", "known from", "note")
        print_table(columns, (_row(placement) for placement in found))


def print_locality(total: OwnershipTotals, count: int, as_json: bool) -> None:
    """Prints the bytes of each VM and its share; `count` is the number of files."""
    shares = total.shares()
    size = sum(share.owned_bytes for share in shares)
    unknown = sum(share.owned_bytes for share in shares if share.vm is None)
    if as_json:
        owners = [asdict(share) for share in shares]
        summary = {"files": count, "bytes": size, "bytes_without_vm": unknown}
        print_json({**summary, "balance": round(total.balance(), 4), "owners": owners})
        return
    rows = (
        (s.vm or "-", s.oss or "-", s.owned_bytes, f"{100 * s.owned_bytes / size:.1f}%")
        for s in shares
    )
    print_table(("VM", "OSS", "bytes", "share"), rows)
    even = f"; the largest VM has {total.balance():.2f} times the mean" if size > unknown else ""
    note(
        f"{counted(count, 'file')}, {format_size(size)}, {format_size(unknown)} without a VM{even}"
    )


def print_put(done: Ingested, planned: StripePlan, as_json: bool) -> None:
    """Prints the result of copying a file into Lustre."""
    for change in done.adjusted:
        note(f"Lustre made {change}")
    if as_json:
        print_json(
            {
                "path": _shown(done.destination),
                "size": planned.file_size,
                "resumed_stripes": done.resumed_stripes,
                "sha256_of_stripes": done.sha256,
                "layout": layout_json(done.layout),
            }
        )
    else:
        size = format_size(planned.file_size)
        note(f"{shown(done.destination)}: {size} in {counted(planned.splits, 'stripe')}, verified")


def print_mismatches(
    found: list[Mismatch | LeftAlone], results: dict[Path, str], as_json: bool
) -> None:
    """Prints files whose stripes do not fit; `results`: path -> outcome of its migration."""
    if as_json:
        print_json(
            [
                {
                    "path": _shown(one.path),
                    "size": one.file_size,
                    "why": one.why,
                    "lfs": one.plan.lfs_arguments if isinstance(one, Mismatch) else [],
                    "result": results[one.path],
                }
                for one in found
            ]
        )
    elif found:
        rows = ((one.path, one.file_size, one.why, results[one.path]) for one in found)
        print_table(("path", "size", "why", "result"), rows)


def print_plan(what: str, planned: StripePlan, as_json: bool) -> None:
    """Prints a plan of stripes and its reasons; `what` names the action."""
    if as_json:
        print_json({**asdict(planned), "splits": planned.splits, "lfs": planned.lfs_arguments})
        return
    note(shown(what))
    for reason in planned.reasons:
        note(reason)


@contextmanager
def progress(what: str, size: int) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar on a terminal; yields a function that takes numbers of copied bytes."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(shown(what), total=size)
        yield lambda done: bar.advance(task, done)


def _shown(path: Path) -> str:
    """A path for JSON: bytes that are not UTF-8 as \\xNN."""
    return str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")


def _placed(placement: OwnedSpan) -> dict[str, Any]:
    return {**asdict(placement), "source": placement.source.value}


def _row(p: OwnedSpan) -> tuple[object, ...]:
    ost = "-" if p.ost is None else p.ost
    return p.offset, p.length, ost, p.oss or "-", p.vm or "-", p.source.value, p.reason or ""
