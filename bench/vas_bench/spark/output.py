"""Checks files of sorted rows without Spark, and tells their rows from others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vas_bench.spark.application import ROW_BYTES

_WORDS = ROW_BYTES // 4
# Odd numbers, one for each word of a row (Knuth, multiplicative hashing); then a row's sum is mixed
# as MurmurHash3 does at its end, so that words of two rows cannot change places unseen.
_WEIGHTS = (np.arange(1, _WORDS + 1, dtype=np.uint64) << np.uint64(1)) * np.uint64(
    0x9E3779B97F4A7C15
) | np.uint64(1)
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(33)


@dataclass(frozen=True)
class RowSum:
    """Rows of files, together: how many, whether they are in order, and a sum of any order."""

    rows: int
    checksum: str
    in_order: bool


def row_sum(directory: Path) -> RowSum:
    """Returns the sum of all rows in the files `part-*` of a directory, in the order of names.

    A file that is not whole rows counts as out of order. Raises OSError if one cannot be read.
    """
    total, count, in_order, last = 0, 0, True, b""
    for path in sorted(directory.glob("part-*")):
        data = np.fromfile(path, dtype=np.uint8)
        if data.size % ROW_BYTES:
            return RowSum(count, "", False)
        if not data.size:
            continue
        texts = data.view(f"S{ROW_BYTES}")
        in_order = in_order and last <= texts[0] and bool((texts[1:] >= texts[:-1]).all())
        last, count = texts[-1], count + texts.size
        total += _sum(data.reshape(-1, ROW_BYTES))
    return RowSum(count, f"{total % (1 << 64):016x}", in_order)


def _sum(rows: np.ndarray) -> int:
    # All of this is modulo 2^64.
    mixed = rows.view(np.uint32).astype(np.uint64) @ _WEIGHTS
    mixed ^= mixed >> _SHIFT
    mixed *= _MIX
    mixed ^= mixed >> _SHIFT
    return int(mixed.sum(dtype=np.uint64))
