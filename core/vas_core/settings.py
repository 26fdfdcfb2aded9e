"""Reads the settings that a site may change: one YAML file for each room."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from vas_core.errors import BadInput
from vas_core.problems import DocumentProblems, structure_problems, wrong_line
from vas_core.reading import read_limited

_MOST_BYTES = 1 << 20

Settings = TypeVar("Settings", bound=BaseModel)


class _Loader(yaml.SafeLoader):
    """Refuses what YAML lets slip: a key given twice, and aliases, of which bombs are made."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise BadInput(f"line {line}: has an alias (*)", hint="write the value out there")
        return super().compose_node(parent, index)

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
    """Returns the settings of a file; the model's defaults where the default file is missing.

    Raises BadInput; it names the file, and each key that is wrong in a line of its own.
    """
    try:
        text = read_limited(file, _MOST_BYTES).decode()
        value = yaml.load(text, _Loader)  # noqa: S506 (a safe one)
        return model.model_validate(value or {})
    except BadInput as refused:
        raise BadInput(refused.what, where=str(file), hint=refused.hint) from None
    except FileNotFoundError as missing:
        if file == default:
            return model()
        raise BadInput("no such file", where=str(file)) from missing
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"cannot be read: {wrong}", where=str(file)) from wrong
    except yaml.MarkedYAMLError as wrong:
        line = wrong.problem_mark.line + 1 if wrong.problem_mark else 1
        raise DocumentProblems(file, [wrong_line(text, line)]) from wrong
    except yaml.YAMLError as wrong:
        raise BadInput(f"is not YAML: {' '.join(str(wrong).split())}", where=str(file)) from wrong
    except ValidationError as wrong:
        raise DocumentProblems(file, structure_problems(wrong, model)) from wrong
    except RecursionError:
        raise BadInput("is nested too deeply", where=str(file)) from None
    except ValueError as wrong:  # a number or a date that Python does not take
        raise BadInput(f"is not valid: {wrong}", where=str(file)) from wrong
