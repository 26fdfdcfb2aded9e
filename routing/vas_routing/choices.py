"""Reads and writes the choices of `vas route calibrate`: the faster leg between two nodes of a
host.

The file is JSON: `{"pairs": [{"nodes": ["oss1", "vm1"], "faster": "virtio"}]}`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.problems import DocumentProblems, structure_problems
from vas_core.reading import read_limited
from vas_routing.links import Leg
from vas_routing.policy import Choices

DEFAULT_CHOICES = Path("/var/lib/vas/route-choices.json")

# A site of 10,000 guests has some 2 MB.
_MOST_BYTES = 64 << 20


class MeasuredPair(BaseModel):
    """Two nodes of one host, and the leg that was measured to be the faster one between them."""

    model_config = ConfigDict(extra="forbid")

    nodes: Annotated[list[str], Field(min_length=2, max_length=2)]
    faster: Leg


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    pairs: list[MeasuredPair]


def read_choices(file: Path) -> Choices:
    """Returns the measured choices of a file; none if it is the default file and missing.

    Raises BadInput, which names file and key, if the file cannot be read or is wrong.
    """
    try:
        document = _Document.model_validate_json(read_limited(file, _MOST_BYTES))
    except FileNotFoundError as missing:
        if file == DEFAULT_CHOICES:
            return {}
        raise BadInput("no such file", where=str(file)) from missing
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    except ValidationError as wrong:
        raise DocumentProblems(file, structure_problems(wrong, _Document)) from wrong
    return {frozenset(pair.nodes): pair.faster for pair in document.pairs}


def write_choices(file: Path, choices: Choices) -> None:
    """Replaces the file of choices. Raises OSError."""
    pairs = [MeasuredPair(nodes=sorted(nodes), faster=leg) for nodes, leg in choices.items()]
    write_atomically(file, _Document(pairs=pairs).model_dump_json(indent=2) + "\n")
