"""Charts: no label on another, at any width, whatever the names and numbers."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vas_bench.report.charts.curve import Curve, curve
from vas_bench.report.charts.intervals import Axis, IntervalRow, intervals
from vas_bench.report.charts.marks import Chart, Dot, fitted, text_width
from vas_bench.report.charts.shares import ShareBar, ShareBlock, shares
from vas_bench.report.charts.waterfall import WaterfallJob, waterfall
from vas_core.svg import LinearScale, from_zero, number_text

WIDTHS = (336, 760)
names = st.text("abimwMW-0 ", min_size=1, max_size=24)
seconds = st.floats(0.01, 1e6)


def assert_readable(chart: Chart) -> None:
    """No label leaves the chart or lies on another."""
    for text in chart.texts:
        left, top, right, bottom = text.box
        assert left >= -1, text
        assert right <= chart.width + 1, text
        assert top >= -1, text
        assert bottom <= chart.height + 1, text
    for one, other in combinations(chart.texts, 2):
        assert not _overlap(one.box, other.box), (one, other)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


@st.composite
def rows(draw: st.DrawFn) -> IntervalRow:
    low, value, high = sorted(draw(st.tuples(seconds, seconds, seconds)))
    words = f"{value:.1f} s ({low:.1f} to {high:.1f} s, n=5)"
    return IntervalRow(draw(names), draw(st.integers(0, 5)), value, low, high, words, (low, high))


@given(st.lists(rows(), min_size=1, max_size=6), st.sampled_from(WIDTHS), st.booleans())
def test_intervals_are_readable(found: list[IntervalRow], width: int, with_reference: bool) -> None:
    axis = Axis("seconds", 1.0, "yarn-lustre = 1") if with_reference else Axis("seconds")
    assert_readable(intervals("t", "d", found, axis, width))


phases = st.dictionaries(names, st.floats(0, 1e5), min_size=1, max_size=6)


@pytest.mark.unhurried
@given(st.lists(phases, min_size=1, max_size=4), st.sampled_from(WIDTHS))
@example([{"0": 5e-324}], WIDTHS[0])
def test_waterfalls_are_readable(found: list[dict[str, float]], width: int) -> None:
    jobs = [WaterfallJob(f"arm {n}", n, "mean 12.3 s", each) for n, each in enumerate(found)]
    assert_readable(waterfall("t", "d", jobs, width))


@given(st.lists(st.tuples(names, st.floats(0, 1)), min_size=1, max_size=8), st.sampled_from(WIDTHS))
def test_shares_are_readable(found: list[tuple[str, float]], width: int) -> None:
    block = ShareBlock(
        "yarn-lustre-hosts", 0, tuple(ShareBar(n, s, "1000 of 1000") for n, s in found)
    )
    assert_readable(shares("t", "d", [block, block], width))


@given(
    st.lists(st.tuples(st.floats(1, 1e3), st.floats(1e-3, 1e9)), min_size=1, max_size=9),
    st.sampled_from(WIDTHS),
)
def test_curves_are_readable(points: list[tuple[float, float]], width: int) -> None:
    model = [(x, y, 0.9 * y, 1.1 * y) for x, y in sorted(points)]
    drawn = Curve(points, model, "hosts", "throughput, jobs per hour")
    assert_readable(curve("t", "d", drawn, width))


@given(st.floats(1e-6, 1e12), st.integers(2, 9))
def test_ticks_are_round_few_and_within(high: float, most: int) -> None:
    ticks = LinearScale(0, high, 0, 100).ticks(most)
    assert 1 <= len(ticks) <= most + 1
    assert ticks[0] == 0
    assert ticks[-1] <= high * (1 + 1e-6)


def test_lengths_begin_at_zero() -> None:
    scale = from_zero(50, 10, 114)
    assert scale(0) == 10
    assert scale(25) - scale(0) == pytest.approx((scale(50) - scale(0)) / 2)


def test_each_run_is_a_point() -> None:
    row = IntervalRow("vas", 0, 2, 1, 3, "2 s", (1, 2, 3))
    drawn = intervals("t", "d", [row], Axis("seconds"), 760)
    assert len([mark for mark in drawn.marks if isinstance(mark, Dot)]) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (61, "61"), (0.5, "0.5"), (12.345, "12.3"), (1234.5, "1,234"), (1e9, "1e+09")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number_text(value) == text


@given(names, st.floats(30, 300))
def test_what_is_cut_fits(text: str, width: float) -> None:
    assert text_width(fitted(text, width)) <= width + 0.01
    assert fitted(text, 1e6) == text
