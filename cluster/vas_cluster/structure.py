"""Turns the findings of pydantic into the problems that `vas cluster check` prints."""

from __future__ import annotations

import json
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from vas_cluster.model import Cluster
from vas_cluster.problem import KeyPath, MapProblem
from vas_core.suggest import suggestion

_TYPE_NAMES = {
    "string_type": "a string",
    "int_type": "an integer",
    "list_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "int_from_float": "an integer",
}
_SHOWN_CHARS = 80


def build(value: dict[str, Any]) -> tuple[Cluster | None, list[MapProblem]]:
    """Returns the model of a parsed document, or None and the problems of its structure."""
    try:
        return Cluster.model_validate(value), []
    except ValidationError as wrong:
        return None, [_problem(error) for error in wrong.errors(include_url=False)]


def _problem(error: ErrorDetails) -> MapProblem:
    path, kind, context = error["loc"], error["type"], error.get("ctx", {})
    shown = show(error["input"])
    if kind == "extra_forbidden":
        return MapProblem(path, "unknown key", _suggestion(path))
    if kind == "missing":
        return MapProblem(path, "is missing", f"add {_description(path)}")
    expected = f"expected {_description(path)}"
    if kind in _TYPE_NAMES:
        return MapProblem(path, f"{shown} is not {_TYPE_NAMES[kind]}", expected)
    if kind in ("greater_than_equal", "less_than_equal"):
        word, bound = ("less", context.get("ge")) if "ge" in context else ("more", context["le"])
        return MapProblem(path, f"{shown} is {word} than {bound}", expected)
    if kind == "too_short":
        return MapProblem(path, "is empty", expected)
    return MapProblem(path, f"{shown} is not valid", expected)


def show(value: Any) -> str:
    """Returns a value as a message shows it: JSON, cut to 80 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def _suggestion(path: KeyPath) -> str:
    return suggestion(str(path[-1]), _model_at(path[:-1]).model_fields, "known keys")


def _description(path: KeyPath) -> str:
    names = [part for part in path if isinstance(part, str)]
    model = _model_at(tuple(names[:-1]))
    return model.model_fields[names[-1]].description or names[-1]


def _model_at(path: KeyPath) -> type[BaseModel]:
    model: type[BaseModel] = Cluster
    for part in path:
        if isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
