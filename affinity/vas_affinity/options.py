"""The options of `vas affinity` that say which machine, and its snapshot."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.reading import read_snapshot, read_source
from vas_affinity.snapshot import Snapshot
from vas_core.root import Root

from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR|XML|TAR|JSON",
    help="A captured machine instead of this one.",
)


def snapshot_of(source: Path | None) -> Snapshot:
    """The captured machine's, or this one's if `source` is None. Raises BadInput."""
    return read_source(source) if source else read_snapshot(Root())
