"""A file that nobody reads at once, and a function that hides several, are split."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY

_FILE_LINES = 400
_FUNCTION_LINES = 45
_SOURCES = ("*.py", "*.java", "*.c", "*.h", "*.sh", "*.yml")

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="not a clone"),
]


def test_no_source_is_longer_than_400_lines() -> None:
    found = {file: len(file.read_text().splitlines()) for file in _files(*_SOURCES)}
    assert {_named(file): lines for file, lines in found.items() if lines > _FILE_LINES} == {}


def test_no_function_is_longer_than_45_lines() -> None:
    found = (each for file in _files("*.py") for each in _functions(file))
    assert {name: lines for name, lines in found if lines > _FUNCTION_LINES} == {}


def _files(*patterns: str) -> list[Path]:
    listed = run(["git", "-C", REPOSITORY, "ls-files", "-z", *patterns]).stdout.split("\0")
    return [file for name in listed if name and (file := REPOSITORY / name).is_file()]


def _functions(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield f"{_named(file)}: {node.name}", node.end_lineno - node.lineno + 1


def _named(file: Path) -> str:
    return str(file.relative_to(REPOSITORY))
