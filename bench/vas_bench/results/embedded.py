"""The runs that a report carries: lines of JSON in a script element that no browser runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from vas_bench.results.record import BenchRun

OPENING = '<script type="application/json" id="vas-runs">'
_CLOSING = "</script>"
# In a JSON string these may be written so, and then nothing in it ends the element or opens one.
_ESCAPES = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)


def embed(runs: Sequence[BenchRun]) -> str:
    """Returns the element with all fields of every run."""
    lines = ",\n".join(run.model_dump_json() for run in runs)
    return f"{OPENING}[\n{lines.translate(_ESCAPES)}\n]{_CLOSING}"


def embedded_lines(data: bytes) -> bytes:
    """Returns a report's runs as lines of a file of results; any other file unchanged."""
    start = data.find(OPENING.encode())
    if start < 0:
        return data
    end = data.index(_CLOSING.encode(), start)
    runs = json.loads(data[start + len(OPENING) : end])
    return b"".join(json.dumps(run).encode() + b"\n" for run in runs)
