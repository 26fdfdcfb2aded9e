"""docs/shuffle-contract.md names a test for each point: each name is that of a test."""

from __future__ import annotations

import re

from vas_core.repository import REPOSITORY

PAGE = (REPOSITORY / "docs/shuffle-contract.md").read_text()
JAVA = REPOSITORY / "yarn-plugins/shuffle/src/test/java"
POINTS = 28


def test_every_point_has_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| \d+ ", line)]
    assert [int(row.split()[1]) for row in rows] == list(range(1, POINTS + 1))
    for row in rows:
        assert re.search(r"#\w+`|\.py", row.split("|")[2]), row


def test_every_java_name_is_a_test() -> None:
    names = re.findall(r"`(\w+)#(\w+)`", PAGE)
    assert len(names) >= POINTS
    for name, method in names:
        (source,) = JAVA.rglob(f"{name}.java")
        assert re.search(rf"^  void {method}\(", source.read_text(), re.M), f"{name}#{method}"


def test_every_rust_name_is_a_test() -> None:
    names = re.findall(r"`(\w+)::(\w+)`", PAGE)
    assert names
    for name, function in names:
        (file,) = (REPOSITORY / "shuffled/src").rglob(f"{name}.rs")
        assert re.search(rf"#\[test\]\n *fn {function}\(", file.read_text()), f"{name}::{function}"


def test_every_derived_class_runs_the_cases_of_another() -> None:
    for base, derived in re.findall(r"^\| `(\w+)` \| `(\w+)`", PAGE, re.M):
        (source,) = JAVA.rglob(f"{derived}.java")
        is_model = "The histories of {@link" in source.read_text()
        assert is_model or f"class {derived} extends {base} " in source.read_text()


def test_every_python_name_is_a_test() -> None:
    for name, method in re.findall(r"`(\w+\.py)(?:::(\w+))?`", PAGE):
        source = REPOSITORY / "yarn/tests" / name
        assert f"def {method}(" in source.read_text() if method else source.exists()
