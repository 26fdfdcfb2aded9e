"""A hundred thousand calls leave no memory behind."""

from __future__ import annotations

import json

import pytest

from vas_a2av.building import MpiKind, build_for
from vas_a2av.launching import launch

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(2000)]
_SMALL = {"VAS_A2AV_MIN_RANKS": "2"}
_NOISE_BYTES = 256 * 1024


@pytest.mark.parametrize("algorithm", ["sloav2", "sloav2x", "auto"])
def test_100000_calls_leave_no_memory_behind(algorithm: str, mpi: MpiKind) -> None:
    """The program counts the blocks that the library allocates; the MPI's own objects have a bound.

    900 communicators that are left behind are more than the bound, and so are three bytes of each
    call; the pools of the MPIs grow by less, once: up to 80 KB were seen.
    """
    program = build_for(mpi, "leaks") / "leaks"
    words = {"VAS_A2AV": algorithm, "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_DIRECT": "64"}
    words["VAS_A2AV_REPORT"] = "1"
    done = launch(mpi, 4, [program], environment=_SMALL | words, timeout_seconds=1800)
    found = json.loads(done.stdout)
    assert (found["calls"], found["blocks"]) == (100_000, 0)
    if algorithm == "sloav2x":
        assert done.stderr.count("4 ranks: 2 nodes, with shared memory") == 1000
    assert found["bytes"] - found["bytes_of_mpi"] < _NOISE_BYTES
