"""The data check: all rows are there, in whole rows and as many files as were asked for.

TPCx-HS's own check lists the directory; this one also adds it up.
"""

from __future__ import annotations

from collections.abc import Sequence

from vas_core.errors import VasError
from vas_yarn.jobs.terasort import ROW_BYTES


def check_data(file_bytes: Sequence[int], *, rows: int, files: int, where: str) -> None:
    """Raises VasError unless these are the sizes of `files` files that hold `rows` rows."""
    if len(file_bytes) != files:
        raise VasError(f"{len(file_bytes)} files, {files} were to be written", where=where)
    torn = sum(size % ROW_BYTES != 0 for size in file_bytes)
    if torn:
        raise VasError(f"{torn} files end within a row", where=where)
    if sum(file_bytes) != rows * ROW_BYTES:
        found = sum(file_bytes) // ROW_BYTES
        raise VasError(f"{found} rows, {rows} were to be written", where=where)
