"""Settings that a site may change: one YAML file for each room."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput

Settings = TypeVar("Settings", bound=BaseModel)


class _Loader(yaml.SafeLoader):
    """YAML's own takes the last of two values, and says nothing of the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                line = key.start_mark.line + 1
                what = f"line {line}: the key {key.value} is given twice"
                raise BadInput(what, hint="remove one of them")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(file: Path, model: type[Settings], *, default: Path | None = None) -> Settings:
    """Reads a file of settings; the model's defaults where the default file, if any, is missing.

    Raises BadInput that names file, key and what is wrong.
    """
    try:
        value = yaml.load(file.read_text(), _Loader)  # noqa: S506 (a safe one)
        return model.model_validate(value or {})
    except BadInput as twice:
        raise BadInput(twice.what, where=str(file), hint=twice.hint) from None
    except FileNotFoundError as missing:
        if file == default:
            return model()
        raise BadInput("no such file", where=str(file)) from missing
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"cannot be read: {wrong}", where=str(file)) from wrong
    except yaml.YAMLError as wrong:
        raise BadInput(f"is no YAML: {' '.join(str(wrong).split())}", where=str(file)) from wrong
    except ValidationError as wrong:
        raise BadInput(first_problem(wrong), where=str(file)) from wrong


def first_problem(wrong: ValidationError) -> str:
    """The first thing that is wrong with a document: `key: what`."""
    return problems(wrong)[0]


def problems(wrong: ValidationError) -> list[str]:
    """Everything that is wrong with a document, as `key: what`."""
    found = [(".".join(map(str, one["loc"])) or "the whole", one["msg"]) for one in wrong.errors()]
    return [f"{key}: {what[:1].lower()}{what[1:]}" for key, what in found]
