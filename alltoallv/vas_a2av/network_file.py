"""Reads and writes the file of a machine's figures, which the C library reads (mpi/network.c)."""

from __future__ import annotations

import os
import re
from math import inf
from pathlib import Path

from vas_a2av.model import Network
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.reading import read_limited

_FIGURES = ("overhead_ns", "latency_ns", "byte_ps", "copy_byte_ps", "local_ns")
_LINE = re.compile(r"([a-z_]+) = ([0-9]+(?:\.[0-9]*)?)")
_MOST_BYTES = 64 << 10
_MOST = 1e12  # of any figure, as in mpi/network.c


def network_path(mpi: str) -> Path:
    """Returns where the library looks for the figures of an MPI of this user."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "vas" / f"a2av-{mpi}.conf"


def read_network(path: Path) -> Network:
    """Returns the network that a file describes.

    Raises BadInput for a file that cannot be read, is longer than 64 KiB or is not text, and as
    `parse_network` does.
    """
    try:
        text = read_limited(path, _MOST_BYTES).decode()
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(path), hint=_HINT) from wrong
    except UnicodeDecodeError as wrong:
        raise BadInput("is not a text file", where=str(path), hint=_HINT) from wrong
    return parse_network(text, where=str(path))


def comment_of(path: Path) -> str:
    """Returns the first line of a file of figures if it is a comment, which tells where they are
    from; else an empty text. Raises as `read_limited` does, UnicodeDecodeError."""
    first, _, _ = read_limited(path, _MOST_BYTES).decode().partition("\n")
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def parse_network(text: str, where: str) -> Network:
    """Returns the network that lines like `overhead_ns = 700` describe.

    Raises BadInput when a line is not a figure, or one is missing.
    """
    found: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        matched = _LINE.fullmatch(line.strip())
        if line.strip() and not line.startswith("#"):
            value = float(matched[2]) if matched and matched[1] in _FIGURES else inf
            if not matched or value > _MOST:
                raise BadInput(f"line {number} is not a figure: {line!r}", where=where, hint=_HINT)
            found[matched[1]] = value
    missing = [name for name in _FIGURES if name not in found]
    if missing:
        raise BadInput(f"{missing[0]} is missing", where=where, hint=_HINT)
    return Network(
        overhead_seconds=found["overhead_ns"] * 1e-9,
        latency_seconds=found["latency_ns"] * 1e-9,
        bytes_per_second=_inverse(found["byte_ps"]),
        copy_bytes_per_second=_inverse(found["copy_byte_ps"]),
        local_seconds=found["local_ns"] * 1e-9,
    )


_HINT = "run `vas a2av tune` again"


def _inverse(picoseconds: float) -> float:
    return 1e12 / picoseconds if picoseconds > 0 else float("inf")


def figures_of(network: Network) -> str:
    """Returns the lines of a file of figures that describe a network."""
    values = (
        network.overhead_seconds * 1e9,
        network.latency_seconds * 1e9,
        1e12 / network.bytes_per_second,
        1e12 / network.copy_bytes_per_second,
        network.local_seconds * 1e9,
    )
    pairs = zip(_FIGURES, values, strict=True)
    return "".join(f"{name} = {value:.3f}\n" for name, value in pairs)


def write_network(path: Path, text: str, comment: str) -> None:
    """Writes a file of figures below a comment in one line. Raises OSError."""
    write_atomically(path, f"# {' '.join(comment.split())}\n{text}")
