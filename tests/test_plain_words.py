"""Plain words: every public docstring and Javadoc stands alone, every public class name is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_tests.plain_words import (
    c_riddles,
    c_types,
    classes_named_twice,
    java_classes,
    java_riddles,
    product_files,
    python_riddles,
    riddles,
    rust_riddles,
    rust_types,
)

pytestmark = pytest.mark.machine


@pytest.mark.parametrize("suffix", [".py", ".java", ".rs", ".c", ".h"])
def test_public_definitions_explain_themselves(suffix: str) -> None:
    assert riddles(product_files(suffix)) == []


def test_a_public_class_name_stands_in_one_file() -> None:
    files = [path for suffix in (".py", ".java", ".rs", ".h") for path in product_files(suffix)]
    assert classes_named_twice(files) == {}


def test_a_class_name_in_two_languages_is_found(tmp_path: Path) -> None:
    texts = {
        "a.py": "class Wish:\n    pass\nclass Own:\n    pass\n",
        "B.java": "class Wish {}\n",
        "c.rs": "pub struct Wish;\npub enum Plan {}\n",
        "c_tests.rs": "pub struct Own;\n",
        "testing/d.rs": "pub struct Own;\n",
        "e.h": "typedef struct plan *Plan;\n",
    }
    (tmp_path / "testing").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert classes_named_twice(tmp_path / name for name in texts) == {
        "Wish": [tmp_path / name for name in ("a.py", "B.java", "c.rs")],
        "Plan": [tmp_path / name for name in ("c.rs", "e.h")],
    }


def test_classes_of_java_are_found() -> None:
    source = (
        "/** Not an interface that counts. */\nfinal class A {\n"
        "  public static final class B {}\n  private record C() {}\n  enum D { E }\n}\n"
    )
    assert java_classes(source) == ["A", "B"]


def test_types_of_rust_are_found() -> None:
    source = (
        "/// Not a pub struct that counts.\npub struct A;\nstruct B;\n"
        "#[derive(Debug)]\npub(crate) enum C<T> { Pub(T) }\npub type D = u8;\n"
        "pub mod inner {\n    pub(in crate::x) trait E {\n        type F;\n    }\n}\n"
        "#[cfg(test)]\n#[derive(Debug)]\npub struct G(u8);\n"
        "#[cfg(test)]\nmod tests {\n    pub union H {\n        a: u8,\n    }\n}\n"
        "pub unsafe trait I {}\n"
    )
    assert rust_types(source) == ["A", "C", "D", "E", "I"]


def test_types_of_a_c_header_are_found() -> None:
    source = (
        "struct a;\nstruct a *a_new(void);\nstruct b {\n    struct a *inner;\n};\n"
        "enum c { C };\ntypedef struct d *D;\ntypedef int e(struct a *,\n              int);\n"
    )
    assert c_types(source) == ["b", "c", "D", "e"]


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
        'option("--mpi", help="Default: the first found.")\n'
    )
    assert python_riddles(path) == [
        "1: module: hides its subject: 'The same, read anew.'",
        "2: Wish: fewer than 4 words: 'A wish.'",
        "4: Wish.read: raises ValueError without saying so",
        "7: help begins with 'Of': Of the search.",
        "8: help does not say what the option is: Default: the first found.",
    ]


def test_what_a_docstring_must_say_of_errors(tmp_path: Path) -> None:
    path = tmp_path / "errors.py"
    path.write_text(
        "def of_another_word(x):\n"
        '    """Returns the text, and raises the limit of it."""\n'
        "    raise ValueError(x)\n"
        "def of_a_helper(x):\n"
        '    """Returns the text of this name."""\n'
        "    return _checked(x)\n"
        "def _checked(x):\n"
        "    raise KeyError(x)\n"
        "def of_a_wider_kind(x):\n"
        '    """Returns the text of this name. Raises LookupError without one."""\n'
        "    return _checked(x)\n"
        "def of_another_kind(x):\n"
        '    """Returns the text of this name. Raises OSError without one."""\n'
        "    return _checked(x)\n"
        "def of_none(x):\n"
        '    """Returns the text of this name, empty without one."""\n'
        "    try:\n"
        "        return _checked(x)\n"
        "    except LookupError:\n"
        "        return ''\n"
    )
    assert python_riddles(path) == [
        "1: of_another_word: raises ValueError without saying so",
        "4: of_a_helper: raises KeyError without saying so",
        "12: of_another_kind: raises KeyError without saying so",
    ]


def test_riddles_of_java_are_found(tmp_path: Path) -> None:
    path = tmp_path / "Riddle.java"
    path.write_text(
        "/** The end. */\nclass Riddle {\n  /** Those read anew here. */\n  int read() {\n"
        "  /** @param most bytes of memory that it takes */\n  Riddle(int most) {}\n"
    )
    assert java_riddles(path) == [
        "1: class Riddle: fewer than 4 words: 'The end.'",
        "3: int read(): hides its subject: 'Those read anew here.'",
        "5: Riddle(int most): hides its subject: '@param most bytes of memory that it takes'",
    ]


def test_riddles_of_rust_are_found(tmp_path: Path) -> None:
    path = tmp_path / "riddle.rs"
    path.write_text(
        "//! What the daemon counts.\n\n/// Reads the answer of a node.\nfn read() {}\n"
        "/// Which way a message goes.\n#[derive(Clone)]\npub enum Way {}\n"
    )
    assert rust_riddles(path) == [
        "1: module: hides its subject: 'What the daemon counts.'",
        "5: pub enum Way {}: hides its subject: 'Which way a message goes.'",
    ]


def test_riddles_of_c_are_found(tmp_path: Path) -> None:
    path = tmp_path / "riddle.h"
    path.write_text(
        "/* What travels: blocks. */\n\n/* The blocks that travel. */\nint a; /* Of one. */\n"
    )
    assert c_riddles(path) == ["1: hides its subject: 'What travels: blocks.'"]
