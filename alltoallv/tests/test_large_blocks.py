"""Blocks, and elements of a datatype, of more than 2 GiB. Needs 5 GB of memory."""

from __future__ import annotations

import pytest

from vas_a2av.building import MpiKind, build_for
from vas_a2av.launching import launch

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(900)]


def test_blocks_and_elements_of_more_than_2_gib_arrive(mpi: MpiKind) -> None:
    """They travel in pieces of 1 GiB; an element that MPI_Pack cannot take is packed too."""
    program = build_for(mpi, "large") / "large"
    environment = {"VAS_A2AV": "sloav2", "VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV_REPORT": "1"}
    done = launch(mpi, 2, [program], environment=environment, timeout_seconds=600)
    assert "large: every check holds" in done.stdout
    assert " 0 passed to MPI" in done.stderr
