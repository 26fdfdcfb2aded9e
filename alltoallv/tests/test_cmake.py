"""A project of CMake finds the installed library by its version, and runs with it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from vas_a2av.building import SOURCES, MpiKind, build_for
from vas_a2av.launching import launch
from vas_core.process import Completed, run

pytestmark = [pytest.mark.slow, pytest.mark.long]

_SOURCE = SOURCES / "tests" / "installed.c"
_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(vas-a2av {version} REQUIRED)
add_executable(program {source})
target_link_libraries(program PRIVATE vas-a2av::vas-a2av MPI::MPI_C)
"""


def test_a_project_of_cmake_finds_the_library_by_its_version(mpi: MpiKind, tmp_path: Path) -> None:
    if not shutil.which("cmake"):
        pytest.skip("CMake is not installed: apt-get install cmake")
    words = [f"MPICC={mpi.compiler}", f"OUT={build_for(mpi)}", f"PREFIX={tmp_path / 'installed'}"]
    run(["make", "-s", "-f", SOURCES / "Makefile", *words, "install"])
    version = re.findall(r"^VERSION := (.+)$", (SOURCES / "Makefile").read_text(), re.M)[0]
    major, minor, _ = map(int, version.split("."))
    assert _configured(mpi, tmp_path, f"{major}.{minor}").status == 0
    run(["cmake", "--build", tmp_path / "built"])
    environment = {"VAS_A2AV": "sloav2", "VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV_REPORT": "1"}
    said = launch(mpi, 3, [tmp_path / "built" / "program"], environment=environment).stderr
    assert "vas-a2av: 3 ranks: 1 calls by sloav2" in said
    for newer in (f"{major}.{minor + 1}", f"{major + 1}.0"):
        refused = _configured(mpi, tmp_path, newer)
        assert refused.status != 0
        assert f"vas-a2av-config.cmake, version: {version}" in refused.stderr


def _configured(mpi: MpiKind, directory: Path, version: str) -> Completed:
    source, built = directory / "source", directory / "built"
    source.mkdir(exist_ok=True)
    (source / "CMakeLists.txt").write_text(_PROJECT.format(version=version, source=_SOURCE))
    words = [f"-DMPI_C_COMPILER={mpi.compiler}", f"-DCMAKE_PREFIX_PATH={directory / 'installed'}"]
    return run(["cmake", "-S", source, "-B", built, *words], check=False)
