"""Problems of a document that a user wrote: the map, settings, a plan.

Each is one line: the key, what is wrong with its value, and the fix.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, core_schema

from vas_core.errors import BadInput
from vas_core.suggest import closest, suggestion

KeyPath = tuple[str | int, ...]

_TYPE_NAMES = {
    "string": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "model": "a mapping",
    "dict": "a mapping",
}
_BOUNDS = {
    "greater_than_equal": ("less than", "ge"),
    "less_than_equal": ("more than", "le"),
    "greater_than": ("not more than", "gt"),
    "less_than": ("not less than", "lt"),
}
_SHOWN_CHARS = 80
_OF_PYDANTIC = frozenset(get_args(core_schema.ErrorType))


@dataclass(frozen=True)
class KeyProblem:
    """A problem of a document: the key, what is wrong with its value, and the fix, if it is known.

    An empty path is the whole document.
    """

    path: KeyPath
    what: str
    fix: str = ""

    def text(self) -> str:
        """Returns `hosts[1].address: WHAT; FIX`."""
        where = f"{key_text(self.path)}: " if self.path else ""
        return f"{where}{self.what}; {self.fix}" if self.fix else f"{where}{self.what}"


class DocumentProblems(BadInput):
    """A document has one or more problems, one line each: `FILE: hosts[1].address: WHAT; FIX`.

    `hides_more` is true if these problems kept other checks from being made.
    """

    def __init__(
        self, file: Path | str, problems: Iterable[KeyProblem], *, hides_more: bool = False
    ) -> None:
        self.problems = sorted(problems, key=lambda p: [(isinstance(k, str), k) for k in p.path])
        self.hides_more = hides_more
        super().__init__("\n".join(f"{file}: {problem.text()}" for problem in self.problems))

    def lines(self) -> list[str]:
        """Returns a line per problem, each with the file's name."""
        return str(self).splitlines()


def key_text(path: KeyPath) -> str:
    """Returns a key path as text: `("hosts", 1, "address")` is `hosts[1].address`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def structure_problems(wrong: ValidationError, model: type[BaseModel]) -> list[KeyProblem]:
    """Returns what pydantic found wrong with a document of this model, in the words of a user."""
    return [_problem(error, model) for error in wrong.errors(include_url=False)]


def wrong_line(text: str, line: int) -> KeyProblem:
    """Returns the problem of a line, counted from 1, at which a text ceases to be YAML."""
    indent = re.match(r"\s*", (text.splitlines() or [""])[min(line, text.count("\n") + 1) - 1])
    if indent and "\t" in indent[0]:
        return KeyProblem((), f"line {line}: is indented by a tab", "use blanks")
    return KeyProblem((), f"line {line}: not valid YAML", "check the indentation and quotes there")


def _show(value: Any) -> str:
    """Returns a value as a message shows it: JSON, cut to 80 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def _problem(error: ErrorDetails, model: type[BaseModel]) -> KeyProblem:
    path, kind = _keys(error["loc"], model), error["type"]
    described = _description(path, model)
    if kind == "extra_forbidden":
        keys = _model_at(path[:-1], model).model_fields
        return KeyProblem(path, "unknown key", suggestion(str(path[-1]), keys, "known keys"))
    if kind == "missing":
        return KeyProblem(path, "is missing", f"add {described or path[-1]}")
    if kind not in _OF_PYDANTIC or (kind == "value_error" and described is None):
        return KeyProblem(path, _said_by_model(error))
    fix = f"expected {described}" if described else _meant(error)
    return KeyProblem(path, _what(error, known=described is not None), fix)


def _said_by_model(error: ErrorDetails) -> str:
    return str(error.get("ctx", {}).get("error", error["msg"]))


def _meant(error: ErrorDetails) -> str:
    words = re.findall("'([^']*)'", str(error.get("ctx", {}).get("expected", "")))
    close = closest(str(error["input"]), words)
    return f"did you mean {close}?" if close else ""


def _what(error: ErrorDetails, *, known: bool) -> str:
    shown, context = _show(error["input"]), error.get("ctx", {})
    kind = error["type"]
    base = "int" if kind == "int_from_float" else kind.rpartition("_")[0]
    if base in _TYPE_NAMES:
        return f"{shown} is not {_TYPE_NAMES[base]}"
    if kind in _BOUNDS:
        word, bound = _BOUNDS[kind]
        return f"{shown} is {word} {context[bound]}"
    if kind == "too_short":
        return "is empty" if context.get("actual_length") == 0 else f"{shown} is too short"
    if kind in ("literal_error", "enum") and not known:
        return f"{shown} is none of {context['expected']}"
    if kind == "json_invalid":
        return f"is not JSON: {context['error']}"
    return f"{shown} is not valid" + ("" if known else f": {error['msg']}")


def _keys(location: KeyPath, model: type[BaseModel]) -> KeyPath:
    """Returns the keys of a location. Pydantic puts the members of unions among them."""
    known: list[str | int] = []
    for part in location:
        inside = _model_at(tuple(known), model)
        if isinstance(part, int) or part == location[-1] or part in inside.model_fields:
            known.append(part)
    return tuple(known)


def _description(path: KeyPath, model: type[BaseModel]) -> str | None:
    names = [part for part in path if isinstance(part, str)]
    if not names:
        return None
    field = _model_at(tuple(names[:-1]), model).model_fields.get(names[-1])
    return field.description if field else None


def _model_at(path: KeyPath, model: type[BaseModel]) -> type[BaseModel]:
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
