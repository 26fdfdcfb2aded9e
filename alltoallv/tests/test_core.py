"""Runs the C core between threads: no MPI is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vas_a2av.building import SOURCES
from vas_core.compiler import c_compiler
from vas_core.process import run

pytestmark = pytest.mark.machine

_OPTIONS = ("-std=c17", "-D_GNU_SOURCE", "-O2", "-g", "-pthread")
_WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wvla", "-Werror")


def compiled(directory: Path, *options: str) -> Path:
    program = directory / "core-test"
    units = [SOURCES / "tests" / name for name in ("core_test.c", "shapes.c", "mailboxes.c")]
    units += (SOURCES / "core").glob("*.c")
    argv = [c_compiler(where="a2av"), *_OPTIONS, *_WARNINGS, *options, "-o", program, *units]
    run(argv, timeout_seconds=100)
    return program


@pytest.mark.unhurried
def test_every_algorithm_delivers_every_block(tmp_path: Path) -> None:
    said = run([compiled(tmp_path)], timeout_seconds=60).stdout
    assert said == "core-test: every check holds\n"


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "sanitizer", ["address,undefined", pytest.param("thread", marks=pytest.mark.long)]
)
def test_sanitizers_find_nothing(sanitizer: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    assert run([program], timeout_seconds=300).stdout == "core-test: every check holds\n"


@pytest.mark.slow
def test_a_hot_block_among_1024_ranks_needs_no_memory_for_1024_of_it(tmp_path: Path) -> None:
    words = ["count", "1024", "8", "sloav2", "2", str(1 << 20)]
    counts = json.loads(run([compiled(tmp_path), *words], timeout_seconds=100).stdout)
    assert counts["scratch_bytes"] < 3 << 20
    assert counts["messages"] == 10 + 1


@pytest.mark.unhurried
def test_the_core_has_no_global_state_and_no_mpi(tmp_path: Path) -> None:
    """The core's objects have no writable data, and call no name of MPI."""
    for unit in (SOURCES / "core").glob("*.c"):
        made = tmp_path / f"{unit.stem}.o"
        run([c_compiler(where="a2av"), "-std=c17", "-fno-pie", "-c", "-o", made, unit])
        names = [line.split() for line in run(["nm", made]).stdout.splitlines()]
        assert [name for *_, kind, name in names if kind in "bBdDC"] == [], unit
        assert [name for *_, name in names if name.startswith(("MPI", "PMPI"))] == [], unit
