"""The model's arithmetic against the C core's counts, and against simulated time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_a2av.building import SIMULATED, is_installed
from vas_a2av.model import Network, predict
from vas_a2av.rounds import positions
from vas_a2av.simulation import SimulatedCase, simulate
from vas_core.cli import run_command

_SIMULATED_CASES = [
    *(("linear", 2), ("sloav", 2), ("two-phase", 2)),
    *(("tuna", 4), ("sloav2", 2), ("sloav2", 8)),
]


@given(ranks=st.integers(2, 300), radix=st.integers(2, 40))
def test_every_distance_travels_once_for_each_digit(ranks: int, radix: int) -> None:
    expected = 0
    for distance in range(1, ranks):
        left = distance
        while left:
            left, digit = divmod(left, radix)
            expected += digit != 0
    assert sum(sum(position.blocks) for position in positions(ranks, radix)) == expected


def test_1024_ranks_have_the_messages_of_the_page() -> None:
    found = {name: predict(name, 2, 1024, 8) for name in ("linear", "sloav", "two-phase", "sloav2")}
    assert [found[name].messages for name in found] == [1023, 20, 30, 10]
    assert found["sloav2"].sent_bytes == 10 + 10 * 512 * 8


def test_blocks_above_the_limit_go_direct() -> None:
    found = predict("sloav2", 2, 64, 2048)
    assert (found.messages, found.sent_bytes) == (63 + 6, 63 * 2048 + 6)


def test_explain_puts_the_cheapest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["a2av", "explain", "--ranks", "1024", "--size", "8"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("sloav2")
    assert run_command(["a2av", "explain", "--ranks", "64", "--size", "1M"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("linear")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "radix"), _SIMULATED_CASES)
def test_simulated_time_is_near_the_models(name: str, radix: int) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    case = SimulatedCase(ranks=64, size=8, distribution="equal", calls=4, seed=1)
    cost, model = simulate(case, name, radix), predict(name, radix, 64, 8)
    assert model.seconds(Network()) == pytest.approx(cost.seconds, rel=0.25)
