"""Writes SecondarySort's input: `python -m vas_bench.run.pairs FILE BYTES SEED`.

Lines of two numbers, in no order: the first one of 65,536, so that groups have many values.
"""

from __future__ import annotations

import random
import sys
from array import array
from pathlib import Path

_PAIRS_AT_ONCE = 65536
_INT_BYTES = 4


def write_pairs(file: Path, size_bytes: int, seed: int) -> None:
    """Writes whole lines until the file has at least `size_bytes`.

    The same seed gives the same lines.
    """
    lots = random.Random(seed)  # noqa: S311 (data, not a secret)
    written = 0
    with file.open("w", encoding="ascii") as out:
        while written < size_bytes:
            numbers = array("I", lots.randbytes(2 * _INT_BYTES * _PAIRS_AT_ONCE))
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            written += out.write("".join(f"{a & 0xFFFF} {b >> 1}\n" for a, b in pairs))


if __name__ == "__main__":
    write_pairs(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
