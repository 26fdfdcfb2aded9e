"""Sanitizers and valgrind find nothing in the library on real MPIs."""

from __future__ import annotations

import shutil

import pytest

from vas_a2av.building import MPICH, MpiKind, build_for, is_installed
from vas_a2av.launching import launch

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1000)]

_SETTINGS = {"VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV_NODE_RANKS": "2"}
# The MPIs keep memory at their end that is not ours.
_ADDRESS = {"ASAN_OPTIONS": "detect_leaks=0"}
# The MPIs are not built for it: what their code reads and writes is not looked at, their locks are.
# UCX replaces functions of memory that the sanitizer replaces too.
_THREAD = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1", "UCX_MEM_EVENTS": "no"}


def _assert_checked(mpi: MpiKind, program: str, sanitize: str, options: dict[str, str]) -> None:
    built = build_for(mpi, program, sanitize=sanitize) / program
    for algorithm in ("sloav2", "sloav2x"):
        environment = _SETTINGS | options | {"VAS_A2AV": algorithm}
        said = launch(mpi, 4, [built, "1"], environment=environment).stdout
        if f"{program}: this MPI has no" in said:
            pytest.skip(f"{mpi.name} has no MPI_Alltoallv_init")
        assert f"{program}: every check holds" in said


def test_address_and_undefined_sanitizers_find_nothing_in_random_cases(mpi: MpiKind) -> None:
    program = build_for(mpi, "oracle", sanitize="address,undefined") / "oracle"
    done = launch(mpi, 7, [program, "150", "3"], environment=_ADDRESS)
    assert done.stdout.strip().endswith(" 0 different")


@pytest.mark.parametrize("program", ["faces", "persistent", "uses"])
def test_address_and_undefined_sanitizers_find_nothing(program: str, mpi: MpiKind) -> None:
    _assert_checked(mpi, program, "address,undefined", _ADDRESS)


@pytest.mark.parametrize("program", ["faces", "persistent"])
def test_the_thread_sanitizer_finds_nothing(program: str, mpi: MpiKind) -> None:
    """It knows of two threads' order by MPI's own locks too, so it misses some of what it could."""
    _assert_checked(mpi, program, "thread", _THREAD)


def test_valgrind_finds_nothing_in_some_random_cases() -> None:
    """Runs on MPICH, as the messages of Open MPI itself have bytes that were never set."""
    if not (is_installed(MPICH) and shutil.which("valgrind")):
        pytest.skip("MPICH or valgrind is not installed: apt-get install libmpich-dev valgrind")
    words = ["valgrind", "-q", "--error-exitcode=9", build_for(MPICH, "oracle") / "oracle"]
    done = launch(MPICH, 3, [*words, "60", "7"])
    assert done.stdout.strip().endswith(" 0 different")
