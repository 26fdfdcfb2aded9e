"""What the room and the code for real sites may import: never the lab."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY

# The code that runs on a real site: this room, Ansible's, and the benchmarks' for sites.
REAL_SITES = (
    "yarn/vas_yarn/**/*.py",
    "ansible/vas_ansible/**/*.py",
    "ansible/plugins/**/*.py",
    "bench/vas_bench/site/*.py",
    "bench/vas_bench/interference/site_*.py",
)


def imported(file: Path) -> Iterator[str]:
    """The first names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.parametrize("pattern", REAL_SITES)
def test_code_for_real_sites_imports_no_lab(pattern: str) -> None:
    files = list(REPOSITORY.glob(pattern))
    assert files, pattern
    assert [str(file) for file in files if "vas_lab" in imported(file)] == []


@pytest.mark.unhurried
def test_the_room_imports_core_cluster_and_layouts_alone() -> None:
    files = list(REPOSITORY.glob("yarn/vas_yarn/**/*.py"))
    found = {name for file in files for name in imported(file) if name.startswith("vas_")}
    assert found == {"vas_core", "vas_cluster", "vas_layout", "vas_yarn"}


@pytest.mark.unhurried
def test_yarn_plugins_has_no_python() -> None:
    files = (REPOSITORY / "yarn-plugins").rglob("*.py")
    assert [str(file) for file in files if "target" not in file.parts] == []
