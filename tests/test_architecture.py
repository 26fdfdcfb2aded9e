"""The tables of docs/architecture.md are the imports between rooms, and between Java's modules."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests.pages import DOCS, table

PAGE = DOCS / "architecture.md"
MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def code(cell: str) -> str:
    return cell.strip("`")


PACKAGE_OF = {code(folder): code(package) for folder, package, _, _ in table(PAGE, "Rooms")}
MAY_IMPORT = {
    code(package): {PACKAGE_OF[name] for name in names(rooms)}
    for _, package, _, rooms in table(PAGE, "Rooms")
}


def packages() -> dict[str, Path]:
    """Every package of the project and where it is, by its name."""
    found = [file.parent for file in REPOSITORY.glob("*/vas_*/__init__.py")]
    return {directory.name: directory for directory in found}


def imported(file: Path) -> Iterator[str]:
    """The project's packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        yield from (m.partition(".")[0] for m in modules if m.startswith("vas_"))


def imports_of(package: Path) -> set[str]:
    found = {name for file in package.rglob("*.py") for name in imported(file)}
    return found - {package.name}


def test_the_table_has_every_room_in_its_folder() -> None:
    there = {directory.parent.name: name for name, directory in packages().items()}
    assert there == PACKAGE_OF


@pytest.mark.unhurried
def test_rooms_import_what_the_table_says() -> None:
    found = {name: imports_of(directory) for name, directory in packages().items()}
    assert {name: sorted(rooms) for name, rooms in found.items()} == {
        name: sorted(rooms) for name, rooms in MAY_IMPORT.items()
    }


def test_imports_go_down() -> None:
    order = list(MAY_IMPORT)
    for name, rooms in MAY_IMPORT.items():
        assert all(order.index(room) < order.index(name) for room in rooms), name


# The commands that also run in a lab load it when they are asked to.
SITE_PATH = (
    "vas_bench.hsph.command",
    "vas_bench.interference.command",
    "vas_bench.run.command",
    "vas_bench.run.hdfs_locality",
    "vas_bench.run.times",
    "vas_bench.tune.command",
)


@pytest.mark.unhurried
@pytest.mark.machine
def test_benchmarks_of_real_sites_load_no_lab() -> None:
    bench = REPOSITORY / "bench"
    files = [
        *bench.glob("vas_bench/site/*.py"),
        *bench.glob("vas_bench/*/site.py"),
        *bench.glob("vas_bench/*/site_*.py"),
    ]
    names = {".".join(file.relative_to(bench).with_suffix("").parts) for file in files}
    assert {"vas_bench.site.site", "vas_bench.interference.site_target"} <= names
    lines = (f"import {name}" for name in sorted({*names, *SITE_PATH}))
    look = "print(*(name for name in sys.modules if name.partition('.')[0] == 'vas_lab'))"
    program = "\n".join(("import sys", *lines, look))
    assert run([sys.executable, "-c", program]).stdout.split() == []


def test_ansibles_modules_import_no_room() -> None:
    modules = (REPOSITORY / "ansible/plugins/modules").glob("*.py")
    own = {module.stem for module in (REPOSITORY / "ansible/plugins/module_utils").glob("*.py")}
    assert {name for module in modules for name in imported(module)} - own == set()


def test_javas_modules_need_what_the_table_says() -> None:
    poms = (REPOSITORY / "yarn-plugins").glob("*/pom.xml")
    found = {pom.parent.name: needed(pom) for pom in poms}
    assert found == {code(name): names(modules) for name, _, modules in table(PAGE, "Java")}


def needed(pom: Path) -> set[str]:
    """The modules of VAS that one is compiled against; its tests' are its own affair."""
    dependencies = ElementTree.parse(pom).getroot().iter(f"{MAVEN}dependency")
    return {
        (each.findtext(f"{MAVEN}artifactId") or "").removeprefix("vas-")
        for each in dependencies
        if each.findtext(f"{MAVEN}groupId") == "org.vas" and not each.findtext(f"{MAVEN}scope")
    }


def test_every_place_to_change_something_is_there() -> None:
    places = [name for row in table(PAGE, "Where a change is made") for name in names(row[1])]
    assert len(places) > 8
    assert [place for place in places if not (REPOSITORY / place).exists()] == []
