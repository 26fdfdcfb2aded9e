"""What samples say, when they say nothing, and gains that name their base."""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vas_bench.statistics.chance import (
    holm,
    mean_test,
    rank_test,
    runs_needed,
    smallest_adjusted,
    smallest_p,
)
from vas_bench.statistics.compare import compare
from vas_bench.statistics.gain import BetterDirection, gain
from vas_bench.statistics.ratio import ratio
from vas_bench.statistics.summary import summary
from vas_core.errors import BadInput

# Ops/s of HBase under YCSB, table 2 of "PontusVision Thread Manager" (T-001 to T-004).
HT_ON = [4656.73, 3822.06, 3654.58, 3797.29, 4005.85]
HT_OFF = [4165.00, 3991.67, 4883.58, 4174.46, 4611.72]
V23 = [5344.91, 5206.76, 5275.79, 5321.16, 5377.41]
V24 = [6540.39, 6664.53, 6617.48, 6619.01, 6541.12]


@pytest.mark.parametrize(
    ("ours", "base", "p"), [(HT_OFF, HT_ON, 0.157), (V23, HT_OFF, 0.004), (V24, HT_OFF, 1.4e-4)]
)
def test_welch_on_the_papers_runs(ours: list[float], base: list[float], p: float) -> None:
    assert mean_test(ours, base) == pytest.approx(p, rel=0.1)


def test_the_papers_claim_for_hyperthreading_is_not_significant() -> None:
    found = {it.pair.arm: it for it in compare(_arms(), "HT on", BetterDirection.HIGHER)}
    assert found["HT off"].verdict.startswith("not significant (n=5, p=0.15")
    assert found["HT off"].improved is None
    assert found["v24"].improved
    assert found["v24"].verdict.startswith("better: 73.1 % more throughput than HT on")


def test_a_summary_gives_both_spreads_and_both_intervals() -> None:
    found = summary(HT_ON)
    assert (found.n, found.median) == (5, 3822.06)
    assert found.mean == pytest.approx(3987.30, abs=0.01)
    assert found.cv == pytest.approx(0.099, abs=0.001)
    ours = stats.ttest_1samp(HT_ON, 0).confidence_interval(0.95)
    assert found.mean_interval == pytest.approx((ours.low, ours.high))
    assert found.median_interval is not None
    assert found.median_interval[0] <= found.median <= found.median_interval[1]


def test_one_run_has_a_value_and_no_interval() -> None:
    found = summary([6.0])
    assert (found.median, found.mean_interval, found.sd, found.outliers) == (6.0, None, 0.0, ())


def test_what_is_far_out_is_flagged_and_stays() -> None:
    found = summary([10.0, 10.1, 9.9, 10.0, 10.2, 30.0])
    assert found.outliers == (30.0,)
    assert found.highest == 30.0
    assert summary([10.0, 10.1, 9.9, 10.0, 10.2]).outliers == ()


@pytest.mark.parametrize(
    ("before", "after", "saved", "gained"),
    # Total seconds of the tuning talk's pairs, which it called 28, 21, 11 and 18 % better.
    [
        (528, 375, 29.0, 40.8),
        (460, 361, 21.5, 27.4),
        (401, 361, 10.0, 11.1),
        (428, 361, 15.7, 18.6),
    ],
)
def test_a_gain_says_both_bases(before: float, after: float, saved: float, gained: float) -> None:
    found = gain(ratio([after], [before]), "before", BetterDirection.LOWER)
    assert found.time_saved * 100 == pytest.approx(saved, abs=0.05)
    assert found.throughput_gained * 100 == pytest.approx(gained, abs=0.05)
    words = f"{saved:.1f} % less time than before"
    assert found.in_words == f"{words}, which is {gained:.1f} % more throughput"


def test_a_gain_of_rates_is_that_of_their_times() -> None:
    rates = gain(ratio([7.4], [5.2]), "1x10G", BetterDirection.HIGHER)
    assert rates.throughput_gained == pytest.approx(0.423, abs=0.0005)
    assert rates.time_saved == pytest.approx(1 - 5.2 / 7.4)
    assert rates.in_words.startswith("42.3 % more throughput than 1x10G")


_TIMES = st.lists(st.floats(0.1, 1000), min_size=2, max_size=6)


@pytest.mark.unhurried
@given(_TIMES, _TIMES)
def test_time_and_throughput_are_one_thing(ours: list[float], base: list[float]) -> None:
    found = gain(ratio(ours, base), "base", BetterDirection.LOWER)
    assert (1 - found.time_saved) * (1 + found.throughput_gained) == pytest.approx(1)
    low, high = found.time_saved_interval
    assert low <= high or low == pytest.approx(high)  # of a single value, by its last bit
    lowest, gained = found.throughput_gained_interval[0], found.throughput_gained
    assert lowest <= gained or lowest == pytest.approx(gained)


def test_a_loss_is_said_as_one() -> None:
    found = gain(ratio([12.0], [10.0]), "stock", BetterDirection.LOWER)
    assert found.in_words.startswith("20.0 % more time than stock")
    assert found.in_words.endswith("16.7 % less throughput")


def test_too_few_runs_can_never_be_significant_and_that_is_said() -> None:
    (found,) = compare({"a": [1.0, 1.1, 1.2], "b": [9.0, 9.1, 9.2]}, "b", BetterDirection.LOWER)
    assert found.smallest_p == pytest.approx(0.1)
    assert found.verdict == "not significant: n=3 never is (p is 0.1 at best); run 4 of each"


def test_more_arms_need_more_runs() -> None:
    """Four runs each settle one comparison; not two, after Holm's correction."""
    assert (runs_needed(1), runs_needed(2), runs_needed(1, paired=True)) == (4, 5, 6)
    arms = {"base": [10.0, 10.1, 10.2, 10.3], "a": [1.0, 1.1, 1.2, 1.3], "b": [2.0, 2.1, 2.2, 2.3]}
    assert all("run 5 of each" in it.verdict for it in compare(arms, "base", BetterDirection.LOWER))
    del arms["b"]
    assert all(it.improved for it in compare(arms, "base", BetterDirection.LOWER))


def test_ties_make_three_runs_no_better() -> None:
    assert stats.mannwhitneyu([1.0] * 3, [2.0] * 3).pvalue < 0.05, "what this guards against"
    assert rank_test([1.0] * 3, [2.0] * 3) == pytest.approx(0.1)


_FEW = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=1, max_size=5)


@pytest.mark.unhurried
@given(_FEW, _FEW)
def test_no_p_is_smaller_than_the_smallest(ours: list[float], base: list[float]) -> None:
    assert rank_test(ours, base) >= smallest_p(len(ours), len(base)) * 0.999
    both = list(zip(ours, base, strict=False))
    paired = rank_test([a for a, _ in both], [b for _, b in both], paired=True)
    assert paired >= smallest_p(len(both), len(both), paired=True) * 0.999


@given(st.integers(1, 8), st.integers(1, 8))
def test_the_smallest_p_is_reached(n: int, m: int) -> None:
    ours, base = [float(i) for i in range(n)], [100.0 + i for i in range(m)]
    assert rank_test(ours, base) == pytest.approx(min(1.0, 2 / comb(n + m, n)))


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


_PS = st.lists(st.floats(0.0001, 1), min_size=1, max_size=6)


@given(_PS)
def test_holm_is_between_none_and_bonferroni(ps: list[float]) -> None:
    for p, adjusted in zip(ps, holm(ps), strict=True):
        assert p <= adjusted <= min(1.0, p * len(ps)) + 1e-12


@given(_PS, st.data())
def test_none_gets_below_the_smallest_adjusted(smallest: list[float], data: st.DataObject) -> None:
    ps = [data.draw(st.floats(least, 1)) for least in smallest]
    for least, adjusted in zip(smallest_adjusted(smallest), holm(ps), strict=True):
        assert adjusted >= least * 0.999


def test_pairing_finds_what_drift_hides() -> None:
    """Rounds on a machine that gets slower: each 5 % better, all over the place."""
    base = [10.0, 12.0, 15.0, 19.0, 24.0, 30.0]
    ours = [9.5, 11.41, 14.24, 18.05, 22.82, 28.5]
    (alone,) = compare({"ours": ours, "base": base}, "base", BetterDirection.LOWER)
    (paired,) = compare({"ours": ours, "base": base}, "base", BetterDirection.LOWER, paired=True)
    assert alone.improved is None
    assert paired.improved
    assert paired.ratio.value == pytest.approx(0.95, abs=0.001)


def test_means_that_say_otherwise_are_mentioned() -> None:
    ours, base = [1.0, 1.01, 1.02, 1.03, 1.04], [1.035, 1.045, 1.05, 1.06, 1.07]
    (found,) = compare({"a": ours, "b": base, "c": base}, "b", BetterDirection.LOWER)[:1]
    assert found.mean_p is not None and found.mean_p < 0.05
    assert ("of means p=" in found.verdict) == (not found.significant)


def test_other_amounts_are_not_called_time() -> None:
    arms = {"a": [1.0, 1.1, 1.2, 1.3], "b": [2.0, 2.1, 2.2, 2.3]}
    (found,) = compare(arms, "b", BetterDirection.LOWER, what="bytes written")
    assert found.gain is None
    assert "less bytes written than b" in found.verdict and "throughput" not in found.verdict


@pytest.mark.parametrize(
    ("ours", "base", "paired"),
    [([1.0], [0.0], False), ([], [1.0], False), ([1.0], [1.0, 2.0], True)],
)
def test_what_has_no_ratio_is_refused(ours: list[float], base: list[float], paired: bool) -> None:
    with pytest.raises(BadInput):
        ratio(ours, base, paired=paired)


@pytest.mark.parametrize("constant", [[40.0] * 3, [0.1] * 3])
def test_welch_of_an_arm_that_never_varied_is_scipys_and_does_not_warn(
    constant: list[float],
) -> None:
    ours = [26.0, 26.3, 25.9]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mean_test(ours, constant), mean_test(constant, ours)
    with warnings.catch_warnings():
        # Scipy warns of the precision of a variance that it need not compute.
        warnings.simplefilter("ignore", RuntimeWarning)
        theirs = stats.ttest_ind(ours, constant, equal_var=False).pvalue
    assert found == pytest.approx((theirs, theirs))


def test_equal_runs_say_nothing_and_do_not_warn() -> None:
    assert mean_test([1.0, 1.0], [2.0, 2.0]) is None
    assert rank_test([1.0, 1.0], [1.0, 1.0], paired=True) == 1.0
    assert summary([2.0, 2.0]).mean_interval == (2.0, 2.0)


@pytest.mark.parametrize("n", [5, 9])
def test_the_interval_holds_the_truth_as_often_as_it_says(n: int) -> None:
    lots = np.random.default_rng(7)
    pairs = np.exp(lots.normal(0, 0.1, (150, 2, n)))
    found = [ratio(list(a), list(b)) for a, b in pairs]
    held = sum(it.low <= 1 <= it.high for it in found) / len(found)
    assert held >= 0.9


def _arms() -> dict[str, list[float]]:
    return {"HT on": HT_ON, "HT off": HT_OFF, "v23": V23, "v24": V24}
