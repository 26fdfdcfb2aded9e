"""Reads JSON that a command of VAS wrote; of any other file says what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput
from vas_core.problems import structure_problems
from vas_core.reading import read_limited

_MOST_BYTES = 64 << 20

Document = TypeVar("Document", bound=BaseModel)


def read_json(file: Path, model: type[Document], *, kind: str, hint: str) -> Document:
    """Returns the document in a file; `kind` is its name in messages, like "a snapshot".

    Raises BadInput that names the file, the first wrong key, and how to make one (`hint`).
    """
    try:
        content = read_limited(file, _MOST_BYTES)
    except FileNotFoundError:
        raise BadInput(f"there is no such {kind}", where=str(file), hint=hint) from None
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file), hint=hint) from None
    return parse_json(content, model, kind=kind, where=str(file), hint=hint)


def parse_json(
    content: bytes, model: type[Document], *, kind: str, where: str, hint: str
) -> Document:
    """Returns the document in a file's content. `where` names the file in messages.

    Raises BadInput that names the file, the first wrong key, and how to make one (`hint`).
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as wrong:
        first = structure_problems(wrong, model)[0]
        raise BadInput(f"is not a {kind}: {first.text()}", where=where, hint=hint) from None
