"""Settings that a site may change: one YAML file for each room."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput

Settings = TypeVar("Settings", bound=BaseModel)


def read_yaml(file: Path, model: type[Settings], *, default: Path | None = None) -> Settings:
    """Reads a file of settings; the model's defaults where the default file, if any, is missing.

    Raises BadInput that names file, key and what is wrong.
    """
    try:
        value = yaml.safe_load(file.read_text())
        return model.model_validate(value or {})
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
    first = wrong.errors()[0]
    key = ".".join(map(str, first["loc"])) or "the whole"
    return f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}"
