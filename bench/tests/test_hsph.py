"""The HSph-like metric: times that close, the lower of two, and what must be said with it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_bench.csvfile import parse_table
from vas_bench.hsph.metric import DIFFERENT_SCALE, NOT_TPC, PHASES, HsphResult, HsphRun, compared
from vas_bench.hsph.price import price_list
from vas_core.errors import BadInput


def test_the_published_result_follows_from_its_time_and_price() -> None:
    """Cisco's 5.07 HSph@1TB for 121,231.76 USD each, of 710 s and 614,645 USD."""
    prices = price_list(_table("item,count,price,currency\nall of it,1,614645,USD\n"))
    found = HsphResult("Cisco", _run(710), _run(705), prices)
    assert found.reported.hsph == pytest.approx(5.07, abs=0.005)
    assert found.price_per_hsph == pytest.approx(121231.76, abs=0.005)


@pytest.mark.parametrize(
    ("seconds", "scale", "said"),
    [(710, 1, "5.07"), (36, 1, "100.00"), (60, 0.0001, "0.00600"), (3700, 1, "0.973")],
)
def test_a_labs_metric_is_not_rounded_away(seconds: float, scale: float, said: str) -> None:
    run = _run(seconds, scale)
    assert run.printed == said
    prices = price_list(_table("item,count,price,currency\nnode,1,100,EUR\n"))
    assert HsphResult("x", run, run, prices).price_per_hsph == pytest.approx(100 / float(said))


# Of the tuning talk: phases, and the metric it printed for them.
_TALK = [(173, 286, 69, 5.2), (102, 218, 55, 7.4), (140, 264, 56, 6.0), (95, 217, 49, 7.7)]


@pytest.mark.parametrize(("generate", "sort", "validate", "printed"), _TALK)
def test_the_talks_phases_do_not_close_and_that_shows(
    generate: float, sort: float, validate: float, printed: float
) -> None:
    """Its metric is of 107 to 164 s more than the phases it lists."""
    seconds = dict(zip(PHASES, (generate, 0, sort, 0, validate), strict=True))
    run = HsphRun(1, 3600 / printed, seconds)
    assert 105 < run.unaccounted_seconds < 166
    (line,) = [it for it in HsphResult("talk", run, run).lines() if "unaccounted" in it]
    assert line == f"  unaccounted: {run.unaccounted_seconds:.1f} s"


@given(st.floats(1, 1e5), st.floats(1, 1e5), st.floats(0.001, 1e4))
def test_the_lower_metric_is_reported(first: float, second: float, scale: float) -> None:
    found = HsphResult("x", _run(first, scale), _run(second, scale))
    assert found.reported.total_seconds == max(first, second)
    assert found.repeated.total_seconds == min(first, second)
    assert found.reported.hsph <= found.repeated.hsph


@given(st.lists(st.floats(0, 1000), min_size=5, max_size=5), st.floats(0.1, 1000))
def test_the_times_close(seconds: list[float], gap: float) -> None:
    run = HsphRun(1, sum(seconds) + gap, dict(zip(PHASES, seconds, strict=True)))
    listed = sum(run.phase_seconds.values())
    assert listed + run.unaccounted_seconds == pytest.approx(run.total_seconds)
    assert run.hsph == pytest.approx(3600 / (sum(seconds) + gap))


def test_every_output_says_that_it_is_no_tpc_result() -> None:
    result = HsphResult("x", _run(100), _run(101))
    assert result.lines()[-1] == NOT_TPC
    assert json.loads(json.dumps(result.as_json()))["disclaimer"] == NOT_TPC
    assert compared(result, result)[-1] == NOT_TPC


def test_different_scale_factors_are_not_compared_without_the_disclaimer() -> None:
    small, large = (
        HsphResult("small", _run(100, 1), _run(101, 1)),
        HsphResult("L", _run(9, 3), _run(8, 3)),
    )
    with pytest.raises(BadInput, match="the scale factors differ"):
        compared(small, large)
    assert DIFFERENT_SCALE not in compared(small, small)
    with pytest.raises(BadInput, match="the scale factors differ"):
        HsphResult("mixed", _run(100, 1), _run(100, 3))


def test_a_comparison_says_both_bases_and_how_few_runs() -> None:
    bonded, single = (
        HsphResult("2x10G", _run(375), _run(374)),
        HsphResult("1x10G", _run(528), _run(520)),
    )
    said = compared(bonded, single)[0]
    assert said.startswith("2x10G: 40.8 % more throughput than 1x10G")
    assert said.endswith("which is 29.0 % less time; one run of each, no interval")


def test_nothing_may_change_between_the_runs() -> None:
    seconds = dict.fromkeys(PHASES, 1.0)
    with pytest.raises(BadInput, match="two configurations"):
        HsphResult("x", HsphRun(1, 9, seconds, "a"), HsphRun(1, 9, seconds, "b"))


@pytest.mark.parametrize(
    ("total", "seconds", "said"),
    [
        (4.0, dict.fromkeys(PHASES, 1.0), "phases take 5 s, all of it 4 s"),
        (9.0, dict.fromkeys(PHASES[::-1], 1.0), "in this order: generate, check input, sort"),
        (9.0, dict.fromkeys(PHASES[:3], 1.0), "the phases are generate, check input, sort"),
        (9.0, dict.fromkeys(PHASES, -1.0), "not above zero"),
        (0.0, dict.fromkeys(PHASES, 0.0), "not above zero"),
    ],
)
def test_runs_that_cannot_be_are_refused(
    total: float, seconds: dict[str, float], said: str
) -> None:
    with pytest.raises(BadInput) as refused:
        HsphRun(1, total, seconds)
    assert said in str(refused.value)


def test_a_small_run_is_said_to_have_no_scale_factor_and_power_is_given_if_metered() -> None:
    run = HsphRun(0.001, 36, dict.fromkeys(PHASES, 7.0), joules=3600)
    assert run.watts_per_khsph == pytest.approx(100 / (run.hsph / 1000))
    lines = HsphResult("lab", run, run).lines()
    assert "  0.001 TB is not a scale factor of the specification" in lines
    assert any(line.endswith("W/KHSph") for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,count,price\na,1,2\n", "prices.csv: has no column currency"),
        ("item,count,price,currency\na,1,2,EUR\nb,1,2,USD\n", "prices.csv:3: USD among EUR"),
        ("item,count,price,currency\na,0,2,EUR\n", "prices.csv:2: count is '0'"),
    ],
)
def test_bad_price_lists_are_refused_by_line(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        price_list(_table(text))


def _table(text: str):  # type: ignore[no-untyped-def]
    return parse_table(text.splitlines(), "prices.csv")


def _run(total: float, scale: float = 1) -> HsphRun:
    return HsphRun(scale, total, dict.fromkeys(PHASES, total / 10))
