"""The library compares what it predicted with what calls take: simulated, with wrong figures."""

from __future__ import annotations

import pytest

from vas_a2av.building import SIMULATED, is_installed
from vas_a2av.grid_points import point_of
from vas_a2av.model import Network
from vas_a2av.simulation import SimulatedCase, simulate

# Messages are said to cost so much that the model always takes the fewest.
_DEAR_MESSAGES = Network(overhead_seconds=1e-3)


@pytest.fixture(autouse=True)
def _simulator() -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")


def _case(size: int, distribution: str) -> SimulatedCase:
    return SimulatedCase(16, size, distribution, calls=2, seed=1, believed=_DEAR_MESSAGES)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["uniform", "normal"])
def test_a_wrong_prediction_costs_at_most_a_twentieth(distribution: str) -> None:
    case = _case(1024, distribution)
    forced, own = simulate(case, "sloav2", 2).seconds, simulate(case, "mpi", 2).seconds
    assert forced > 1.05 * own
    point = point_of(case)
    assert point.used == "mpi"
    assert point.ratio <= 1.05


@pytest.mark.slow
def test_a_right_prediction_is_kept() -> None:
    point = point_of(_case(64, "uniform"))
    assert point.used == "sloav2"
    assert point.ratio < 0.6


@pytest.mark.slow
def test_what_decides_takes_few_calls() -> None:
    """Eight calls, and at least 64 before the next eight."""
    decision = simulate(_case(64, "uniform"), "auto", 2).decision
    assert decision
    assert decision.calls == 8
    assert decision.left >= 64
