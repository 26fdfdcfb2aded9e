"""No file and no function is longer than the limits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests.braces import braced_functions

_FILE_LINES = 400
_FUNCTION_LINES = 45
_BRACED = ("*.java", "*.c", "*.h", "*.rs")
_SOURCES = ("*.py", *_BRACED, "*.sh", "*.bash", "*.yml", "*.f90", "*.md")

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="not a clone"),
]


def test_no_source_and_no_page_is_longer_than_400_lines() -> None:
    found = {file: len(file.read_text().splitlines()) for file in _files(*_SOURCES)}
    assert {_named(file): lines for file, lines in found.items() if lines > _FILE_LINES} == {}


@pytest.mark.unhurried
def test_no_function_is_longer_than_45_lines() -> None:
    found = [each for file in _files("*.py") for each in _functions(file)]
    for file in _files(*_BRACED):
        of_file = braced_functions(file.read_text())
        found += [(f"{_named(file)}: {name}", lines) for name, lines in of_file]
    assert {name: lines for name, lines in found if lines > _FUNCTION_LINES} == {}


def test_functions_of_other_languages_are_found() -> None:
    java = """
      class A {
        /** A brace: { */
        @Test
        void first(String a, int b)
            throws IOException {
          if (a.equals("}")) {
            run(() -> { });
          }
        }
        final int[] table = {1, 2};
        A() { }
      }
    """
    assert list(braced_functions(java)) == [("first", 6), ("A", 1)]
    rust = "impl A {\n    pub fn b<T>(c: char) -> T\n    where T: D,\n    {\n        '{'\n    }\n}"
    assert list(braced_functions(rust)) == [("b", 5)]
    c = "static int a(int b)\n{\n    while (b) {\n        b--;\n    }\n    return 0;\n}\n"
    assert list(braced_functions(c)) == [("a", 7)]


def _files(*patterns: str) -> list[Path]:
    listed = run(["git", "-C", REPOSITORY, "ls-files", "-z", *patterns]).stdout.split("\0")
    return [file for name in listed if name and (file := REPOSITORY / name).is_file()]


def _functions(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield f"{_named(file)}: {node.name}", node.end_lineno - node.lineno + 1


def _named(file: Path) -> str:
    return str(file.relative_to(REPOSITORY))
