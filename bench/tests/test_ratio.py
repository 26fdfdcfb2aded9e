"""Ratios of samples: what they say, and when they say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_bench.statistics.ratio import ratio


def test_a_clear_difference_is_significant() -> None:
    found = ratio([6.0, 6.1, 5.9, 6.2, 6.0], [10.0, 10.1, 9.9, 10.2, 10.3])
    assert found.value == pytest.approx(6.0 / 10.1)
    assert found.low < found.value < found.high < 0.7
    assert found.p < 0.05
    assert "not significant" not in found.in_words


def test_noise_is_not() -> None:
    found = ratio([10.0, 12.0, 9.0, 14.0, 11.0], [11.0, 10.5, 13.0, 9.5, 12.0])
    assert "not significant" in found.in_words


def test_three_runs_each_prove_nothing_whatever_they_are() -> None:
    found = ratio([1.0, 1.1, 1.2], [9.0, 9.1, 9.2])
    assert found.n == 3
    assert "not significant" in found.in_words


def test_one_run_has_no_interval() -> None:
    found = ratio([6.0], [10.0])
    assert found.low == found.value == found.high == pytest.approx(0.6)


_SAMPLES = st.lists(st.floats(0.1, 1000), min_size=2, max_size=6)


@pytest.mark.unhurried
@given(_SAMPLES, _SAMPLES)
def test_the_interval_stays_within_what_was_seen(ours: list[float], base: list[float]) -> None:
    found = ratio(ours, base)
    least, most = min(ours) / max(base), max(ours) / min(base)
    assert least * 0.999 <= found.low <= found.high <= most * 1.001
    assert 0 <= found.p <= 1
