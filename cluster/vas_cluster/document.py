"""Reads YAML 1.2 (core schema) into plain values, and refuses what YAML lets slip.

PyYAML's own constructor follows YAML 1.1, where an unquoted MAC address is a base-60
number and `no` is false, and where the second of two equal keys silently wins. Only its
parser is used here; the Java side (snakeyaml-engine) reads the same way.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from vas_core.errors import BadInput
from vas_core.problems import KeyPath, KeyProblem, wrong_line
from vas_core.reading import read_limited

# Some ten times the map of 5,000 servers.
_MOST_BYTES = 32 << 20
_START = "start from one of the examples in cluster/examples, or from `vas cluster discover`"
_MAX_DEPTH = 100
_MAX_NODES = 2_000_000
# No key takes a longer number, and Python refuses to read one of thousands of digits.
_INT = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}


def parse_document(text: str) -> tuple[Any, list[KeyProblem]]:
    """Returns the value of a YAML document and its problems of form.

    The value is None if there are problems.
    """
    try:
        if _is_too_deep(text):
            return None, [KeyProblem((), "nested too deeply", _START)]
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as wrong:
        line = wrong.problem_mark.line + 1 if wrong.problem_mark else 1
        return None, [wrong_line(text, line)]
    except (yaml.YAMLError, RecursionError):
        return None, [KeyProblem((), "not valid YAML", "check that it is a UTF-8 text file")]
    if node and _count(node, {}) > _MAX_NODES:
        return None, [
            KeyProblem((), "too large when its aliases are expanded", "remove the aliases")
        ]
    problems: list[KeyProblem] = []
    value = _construct(node, (), problems) if node else None
    if not problems and not isinstance(value, dict):
        problems.append(KeyProblem((), "not a mapping" if node else "is empty", _START))
    return (None, problems) if problems else (value, [])


def _is_too_deep(text: str) -> bool:
    """Returns whether a text nests too deeply, without the recursion that would exhaust the
    stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                return True
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return False


def _count(node: yaml.Node, known: dict[int, int]) -> int:
    """The nodes of the expanded tree, each aliased node counted every time it is used."""
    if id(node) not in known:
        known[id(node)] = _MAX_NODES  # what a node within itself would expand to: without end
        children = node.value if isinstance(node, yaml.CollectionNode) else ()
        parts = [part for c in children for part in (c if isinstance(c, tuple) else (c,))]
        known[id(node)] = 1 + sum(_count(part, known) for part in parts)
    return known[id(node)]


def read_text(path: Path) -> tuple[str, list[KeyProblem]]:
    """Returns the file's text and no problems; or an empty text and why it cannot be read."""
    try:
        return read_limited(path, _MOST_BYTES).decode("utf-8"), []
    except FileNotFoundError:
        hint = "name the map's file, set VAS_CLUSTER, or draft a map by `vas cluster discover`"
        return "", [KeyProblem((), "no such file", hint)]
    except IsADirectoryError:
        return "", [KeyProblem((), "is a directory", "name the map's file")]
    except UnicodeDecodeError:
        return "", [KeyProblem((), "not valid YAML", "check that it is a UTF-8 text file")]
    except BadInput as refused:
        return "", [KeyProblem((), refused.what, "name the map's file")]
    except OSError as wrong:
        return "", [KeyProblem((), f"cannot be read: {wrong.strerror}", "check its permissions")]


def _construct(node: yaml.Node, path: KeyPath, problems: list[KeyProblem]) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, problems)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, i), problems) for i, item in enumerate(node.value)]
    plain = getattr(node, "style", None) in (None, "")
    return _scalar(node.value) if plain else node.value


def _mapping(node: yaml.MappingNode, path: KeyPath, problems: list[KeyProblem]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            problems.append(KeyProblem(path, "has a key that is not a word", "write KEY: VALUE"))
            continue
        key = str(key_node.value)
        if key in mapping:
            problems.append(KeyProblem((*path, key), "key is given twice", "remove one of them"))
        value = _construct(value_node, (*path, key), problems)
        if value is None:
            problems.append(
                KeyProblem((*path, key), "has no value", "give it one or remove the key")
            )
        mapping[key] = value
    return mapping


def _scalar(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
