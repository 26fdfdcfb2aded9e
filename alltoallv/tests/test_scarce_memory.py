"""The library where memory is short, in a rank or in /dev/shm, or where a program frees nothing."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from vas_a2av.building import MPICH, MpiKind, build_for, is_installed
from vas_a2av.launching import launch
from vas_core.process import Completed, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_NODES = {"VAS_A2AV": "sloav2x", "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_MIN_RANKS": "2"}
_REPORTED = _NODES | {"VAS_A2AV_REPORT": "1"}
_SMALL_BYTES, _LEFT_KIB = "64m", 768
_MOUNT = 'mount -t tmpfs -o size="$1" tmpfs /dev/shm && shift && exec "$@"'


@pytest.mark.parametrize("algorithm", ["auto", "sloav2x"])
def test_ranks_agree_where_one_has_no_memory(algorithm: str, mpi: MpiKind) -> None:
    """A rank that has none would otherwise leave others in a reduction for ever."""
    program = build_for(mpi, "no_memory") / "no_memory"
    done = launch(mpi, 4, [program], environment=_NODES | {"VAS_A2AV": algorithm})
    failed = json.loads(done.stdout)
    # The states, the arrays of blocks and of nodes; a plan, its state, and its arrays.
    assert failed["communicators"] >= 8
    assert failed["plans"] == failed["plans_of_mpi"] == 3


def test_a_program_that_frees_nothing_ends_and_is_reported(mpi: MpiKind) -> None:
    done = launch(mpi, 4, [build_for(mpi, "ends") / "ends"], environment=_REPORTED)
    assert "4 ranks: 4 calls by sloav2x" in done.stderr
    assert "4 ranks: 1 calls by sloav2x" in done.stderr
    assert done.stderr.count("4 ranks: 2 nodes, with shared memory") == 2


def test_nodes_do_without_memory_that_has_no_room(mpi: MpiKind, tmp_path: Path) -> None:
    _assert_messages(_in_small_memory(mpi, tmp_path, "statvfs"))


def test_nodes_do_without_memory_whose_pages_are_denied(tmp_path: Path) -> None:
    """Runs on MPICH: Open MPI 4.1 hangs by itself where its window has no room."""
    if not is_installed(MPICH):
        pytest.skip(f"MPICH is not installed: apt-get install {MPICH.package}")
    _assert_messages(_in_small_memory(MPICH, tmp_path, "madvise"))


def _assert_messages(done: Completed) -> None:
    assert "4 ranks: 10 calls by sloav2x" in done.stderr
    assert "4 ranks: 2 nodes, without shared memory" in done.stderr


def _in_small_memory(mpi: MpiKind, tmp_path: Path, way: str) -> Completed:
    """Runs the program where /dev/shm is small; the library notices by `way` alone."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    private = ["unshare", *user, "--mount", "sh", "-c", _MOUNT, "sh", _SMALL_BYTES]
    if run([*private, "true"], check=False).status != 0:
        pytest.skip("no file system can be mounted in a namespace of mounts here")
    launcher = tmp_path / "launcher"
    words = " ".join(f"'{word}'" for word in private)
    launcher.write_text(f'#!/bin/sh\nexec {words} {mpi.launcher} "$@"\n')
    launcher.chmod(0o755)
    inside = dataclasses.replace(mpi, launcher=str(launcher))
    program = build_for(mpi, "no_room") / "no_room"
    # Inside a namespace of users everybody is root.
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return launch(inside, 4, [program, str(_LEFT_KIB), way], environment=_REPORTED | root)
