"""Plain words: every public docstring and Javadoc stands alone, every public class name is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_tests.plain_words import (
    classes_named_twice,
    java_riddles,
    product_files,
    python_riddles,
    riddles,
)

pytestmark = pytest.mark.machine


@pytest.mark.parametrize("suffix", [".py", ".java"])
def test_public_definitions_explain_themselves(suffix: str) -> None:
    assert riddles(product_files(suffix)) == []


def test_a_public_class_name_stands_in_one_file() -> None:
    assert classes_named_twice() == {}


def test_riddles_of_python_are_found(tmp_path: Path) -> None:
    path = tmp_path / "riddle.py"
    path.write_text(
        '"""The same, read anew."""\n'
        "class Wish:\n"
        '    """A wish."""\n'
        "    def read(self, name: str) -> str:\n"
        '        """Returns the text of this name."""\n'
        "        raise ValueError(name)\n"
        'option("--seed", help="Of the search.")\n'
    )
    assert python_riddles(path) == [
        "1: module: hides its subject: 'The same, read anew.'",
        "2: Wish: fewer than 4 words: 'A wish.'",
        "4: Wish.read: raises ValueError without saying so",
        "7: help begins with 'Of': Of the search.",
    ]


def test_riddles_of_java_are_found(tmp_path: Path) -> None:
    path = tmp_path / "Riddle.java"
    path.write_text(
        "/** The end. */\nclass Riddle {\n  /** Those read anew here. */\n  int read() {\n"
    )
    assert java_riddles(path) == [
        "1: class Riddle: fewer than 4 words: 'The end.'",
        "3: int read(): hides its subject: 'Those read anew here.'",
    ]
