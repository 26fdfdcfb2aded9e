"""The Universal Scalability Law: the article's figures, its identities, and what fits hide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_up_runs import made_up_scaling
from scipy.optimize import curve_fit

from vas_bench.csvfile import parse_table
from vas_bench.usl.diagnosis import STRETCHED, diagnose
from vas_bench.usl.fit import Fit, LeftOut, Way, fit_all
from vas_bench.usl.law import Law
from vas_bench.usl.points import ScalingPoint, points_of
from vas_bench.usl.solve import solve
from vas_core.cli import run_command
from vas_core.errors import BadInput

ARTICLE = Law(-0.0288, 0.000447)  # figure 5: Hadoop TeraSort on BigMem
NODES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
# PAPER-FACTS E3: contention that is there, hidden as T(1) and T(2) are stretched so much.
HONEST, STRETCHES = Law(0.01, 2e-4), {1.0: 1.3, 2.0: 1.075}


def test_the_articles_figures_follow_from_its_coefficients() -> None:
    assert ARTICLE.peak == pytest.approx(48, abs=0.5)
    assert ARTICLE.crossover == pytest.approx(65, abs=1)
    assert ARTICLE.max_speedup == pytest.approx(73.48, abs=0.6), "as its coefficients are rounded"
    assert ARTICLE.most_efficient == pytest.approx(32.7, abs=0.05)
    assert ARTICLE.pole is None


def test_its_other_curve() -> None:
    """The solid one of figure 6 has its peak at 95 and crosses at 99."""
    law = Law(-99 / (95**2 - 99), 1 / (95**2 - 99))
    assert (law.peak, law.crossover) == (pytest.approx(95), pytest.approx(99))
    assert law.max_speedup == pytest.approx(99.2, abs=0.1)


def test_varnish_has_a_ceiling_and_no_peak() -> None:
    law = Law(0.000169, 0)
    assert law.ceiling == pytest.approx(5917, abs=0.5)
    assert (law.peak, law.max_speedup, law.crossover, law.pole) == (None, None, None, None)


@pytest.mark.parametrize("sigma", [0.0, 0.02, 0.05])
def test_zookeeper_peaks_between_two_and_three(sigma: float) -> None:
    assert Law(sigma, 0.1635).peak == pytest.approx(2.4, abs=0.1)


_LAWS = st.builds(Law, st.floats(-0.5, 0.9), st.floats(1e-6, 0.5), st.floats(0.01, 100))


@given(_LAWS)
def test_the_identities(law: Law) -> None:
    assume(law.pole is None)
    assert law.peak is not None and law.max_speedup is not None
    assert law.speedup(1.0) == pytest.approx(1)
    assert law.speedup(law.peak**2) == pytest.approx(1), "it is paid back there"
    p, sigma, kappa = law.peak, law.sigma, law.kappa
    if p >= 1:
        assert law.max_speedup == pytest.approx(p / (2 * (1 - sigma) + (sigma - kappa) * p))
    for near in (0.99, 1.01):
        assert law.speedup(p * near) <= law.max_speedup


@given(st.floats(1.1, 1000), st.floats(0.01, 0.99))
def test_the_identities_of_superlinear_laws(peak: float, share: float) -> None:
    """From their peak and crossover; they have no pole if p_x < 2 p* - 1."""
    crossover = 1 + share * (2 * peak - 2)
    kappa = 1 / (peak**2 - crossover)
    law = Law(-crossover * kappa, kappa)
    assert law.peak is not None and law.crossover is not None
    assert (law.peak, law.crossover) == (pytest.approx(peak), pytest.approx(crossover))
    assert law.speedup(law.crossover) == pytest.approx(law.crossover)
    assert law.peak**2 == pytest.approx(1 / law.kappa + law.crossover)
    for near in (0.99, 1.01):
        p = law.most_efficient * near
        assert law.best_efficiency >= max(1, law.speedup(p) / p)


@given(st.floats(-0.5, 0.0), st.floats(1e-6, 0.5))
def test_a_superlinear_law_has_no_pole_under_one_condition(sigma: float, kappa: float) -> None:
    condition = (kappa - sigma) ** 2 - 4 * kappa * (1 - sigma)
    assume(abs(condition) > 1e-9)
    assert (Law(sigma, kappa).pole is None) == (condition < 0)


@given(_LAWS)
def test_the_denominator_is_zero_at_the_pole_and_positive_before(law: Law) -> None:
    p = np.linspace(1, 200 if law.pole is None else law.pole, 400)[:-1]
    assert np.all(1 / law.speedup(p) > 0)
    if law.pole is not None and law.pole > 1:
        assert 1 / law.speedup(law.pole * (1 + 1e-12)) == pytest.approx(0, abs=1e-6)


@given(st.floats(-0.03, 0.4), st.floats(1e-4, 0.02), st.floats(0.01, 1e6))
def test_what_a_law_gave_is_fitted_back(sigma: float, kappa: float, gamma: float) -> None:
    law = Law(sigma, kappa, gamma)
    assume(law.pole is None)
    p = np.array(NODES)
    for given_gamma in (None, gamma):
        found = solve(p, law.throughput(p), given_gamma)
        assert found.sigma == pytest.approx(sigma, abs=1e-6)
        assert found.kappa == pytest.approx(kappa, rel=1e-4)
        assert found.gamma == pytest.approx(gamma, rel=1e-6)


def test_bounds_on_sigma_would_hide_superlinear_data() -> None:
    """What the R package does: a wrong gamma, no contention, and a peak far from the true one."""

    def law(p: float, sigma: float, kappa: float, gamma: float) -> float:
        return Law(sigma, kappa, gamma).throughput(p)

    p = np.array(NODES)
    bounds = ([0, 0, 0], [9, 9, 99])
    bad = curve_fit(law, p, ARTICLE.speedup(p), [0.01, 1e-4, 1.5], bounds=bounds)[0]
    assert bad[2] > 1.8 and bad[0] == pytest.approx(0, abs=1e-6)
    peak = Law(*map(float, bad)).peak
    assert peak is not None and peak > 65
    assert solve(p, ARTICLE.speedup(p)).peak == pytest.approx(ARTICLE.peak, abs=0.001)


def test_noise_never_gives_a_kappa_below_zero() -> None:
    p = np.array(NODES)
    x = Law(0.05, 0).throughput(p) * np.array([1, 1, 0.99, 1, 1, 1, 1.03])
    assert solve(p, x).kappa == 0


def test_a_stretched_baseline_is_diagnosed() -> None:
    points = _runs(HONEST, STRETCHES, failures=lambda p: 2.0 if p == 1 else 0.0)
    two, three, without = fit_all(points, resamples=50)
    assert isinstance(two, Fit) and isinstance(three, Fit) and isinstance(without, Fit)
    assert two.law.sigma == pytest.approx(-0.0057, abs=0.0001)
    assert without.law.sigma == pytest.approx(HONEST.sigma, abs=0.0005)
    p = np.array(NODES[2:])
    beyond = solve(p, HONEST.throughput(p))
    assert (beyond.sigma, beyond.gamma) == (pytest.approx(0.01), pytest.approx(1))
    found = diagnose(points, [two, three, without])
    assert found.verdict == STRETCHED == "superlinear: the baseline is stretched"
    said = "\n".join(found.evidence)
    assert "sigma changes its sign: -0.00574 with one node, 0.00961 without" in said
    assert "one node does 1/1.29 of what runs on more say it can" in said
    assert "failed_reduces: 2 a run on one node, 0 on more" in said


def test_superlinear_without_evidence_is_only_suspected() -> None:
    found = diagnose(*_fitted(ARTICLE))
    assert found.verdict == "superlinear: suspect that the baseline is stretched"
    assert "failed_reduces and retries would show why" in found.evidence[-1]
    assert not any("changes its sign" in line for line in found.evidence)


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        (Law(0.05, 0.001), "sublinear: it peaks at p = 30.8"),
        (Law(0.05, 0), "sublinear: speedup stays below 20"),
        (Law(0.4, 0.5), "retrograde"),
        (Law(1.2, 0), "retrograde"),
        (Law(0, 0), "linear"),
    ],
)
def test_honest_runs_are_not_called_stretched(law: Law, verdict: str) -> None:
    assert diagnose(*_fitted(law)).verdict.startswith(verdict)


def test_a_peak_that_was_not_seen_is_said_to_be_extrapolated() -> None:
    seen = [p for p in NODES if p <= 16]
    points = [ScalingPoint(p, Law(0.02, 0.001).throughput(p)) for p in seen]
    fits = fit_all(points, resamples=0)
    assert all(isinstance(it, Fit) and "peak" in it.unseen() for it in fits)
    warning = "two-parameter: extrapolated, p was measured to 16: peak, max speedup"
    assert warning in diagnose(points, fits).warnings


def test_a_fit_with_a_pole_is_left_out_and_still_superlinear() -> None:
    points = [ScalingPoint(p, Law(-0.1, 0).throughput(p)) for p in (1.0, 2.0, 4.0, 6.0, 8.0)]
    fits = fit_all(points, resamples=0)
    assert all(isinstance(it, LeftOut) and "at p = 11 (a pole)" in it.why for it in fits)
    assert diagnose(points, fits).verdict.startswith("superlinear")


def test_fits_that_the_runs_do_not_allow_are_left_out() -> None:
    points = [ScalingPoint(p, HONEST.throughput(p)) for p in NODES[1:4]]
    two, three, without = fit_all(points, resamples=0)
    assert isinstance(two, LeftOut) and two.why == "one node was not measured"
    assert isinstance(three, Fit) and isinstance(without, Fit)
    assert all(isinstance(it, LeftOut) for it in fit_all(points[:2], resamples=0))


def test_intervals_hold_the_truth_and_are_the_same_again() -> None:
    points = _noisy(Law(0.05, 0.001), seed=3)
    first, again = (fit_all(points, resamples=100) for _ in range(2))
    assert first == again
    for fit in first:
        assert isinstance(fit, Fit)
        sigma, peak = fit.interval("sigma"), fit.interval("peak")
        assert sigma and sigma[0] < 0.05 < sigma[1]
        assert peak and peak[0] < 30.8 < peak[1]
        for middle, low, high in fit.band([1, 10, 60]):
            assert low <= middle <= high


def test_runs_are_read_by_column() -> None:
    text = "# made up\nnodes,seconds,retries\n1,100,3\n2,50,0\n"
    points = points_of(parse_table(text.splitlines(), "x.csv"))
    assert points[0] == ScalingPoint(1, 0.01, (("retries", 3.0),))
    assert points[1].throughput == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "x.csv: columns p and throughput, or p and seconds, are wanted; it has a"),
        ("p,throughput\n1,2\n2,fast\n", "x.csv:3: throughput is 'fast'; a number above zero"),
        ("p,throughput\n\n0.5,2\n", "x.csv:3: p is 0.5; count nodes from 1"),
        ("p,throughput\n1,2,3\n", "x.csv:2: 3 cells, not 2; quote what has commas"),
        ("p,throughput\n1,inf\n", "x.csv:2: throughput is 'inf'; a number above zero"),
        ("p,p\n1,1\n", "x.csv: column names are empty or doubled; name each once"),
        ("p,throughput\n", "x.csv: holds no rows; column names first, then a line each"),
    ],
)
def test_what_is_no_run_is_refused_by_line(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        points_of(parse_table(text.splitlines(keepends=True), "x.csv"))


def test_the_command_gives_the_articles_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "usl", "--from-coefficients", "-0.0288,0.000447", "--json"]) == 0
    given = json.loads(capsys.readouterr().out)
    (fit,) = given["fits"]
    assert (round(fit["peak"]), round(fit["max_speedup"], 1)) == (48, 73.3)
    assert fit["crossover"] == pytest.approx(64.43, abs=0.01)
    assert "superlinear" in given["diagnosis"]


@pytest.mark.unhurried
def test_the_command_fits_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.csv"
    lines = [f"{it.p},{it.throughput}" for it in _runs(HONEST, STRETCHES)]
    file.write_text("\n".join(["p,throughput", *lines]))
    drawn = tmp_path / "usl.svg"
    assert run_command(["bench", "usl", str(file), "--json", "--svg", str(drawn)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [fit["name"] for fit in found["fits"]] == [way.value for way in Way]
    assert found["diagnosis"] == STRETCHED
    for fit in found["fits"]:
        assert {"sigma", "kappa", "gamma", "peak", "max_speedup", "crossover"} <= fit.keys()
        assert fit["intervals"]["sigma"][0] <= fit["sigma"] <= fit["intervals"]["sigma"][1]
    assert ElementTree.parse(drawn).getroot().tag.endswith("svg")
    assert STRETCHED in drawn.read_text()


def test_the_command_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of three runs, as many as there are coefficients: no interval is to be had."""
    file = tmp_path / "runs.csv"
    file.write_text("p,throughput\n1,0.769\n2,1.84\n4,3.87\n")
    assert run_command(["bench", "usl", str(file)]) == 0
    printed = capsys.readouterr()
    assert "two-parameter" in printed.out and "superlinear" in printed.out
    assert "left out: 2 node counts, 3 are needed" in printed.err


@pytest.mark.unhurried
def test_the_command_reads_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text("".join(run.model_dump_json() + "\n" for run in made_up_scaling()))
    assert run_command(["bench", "usl", str(file), "--system", "vas", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"][0]["kappa"] == pytest.approx(0.004, abs=0.002), "as they were made up"
    assert run_command(["bench", "usl", str(file), "--system", "tez"]) == 2
    assert "holds no runs that differ in their hosts alone" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1", "a,b", "0.1,-1", "0.1,0.1,0", "0.1,nan", "1,1,1,1"])
def test_bad_coefficients_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "usl", "--from-coefficients", text]) == 2
    assert "are not coefficients" in capsys.readouterr().err


def _runs(
    law: Law,
    stretches: dict[float, float] | None = None,
    failures: Callable[[float], float] | None = None,
) -> list[ScalingPoint]:
    """Three equal runs at each p."""
    found = []
    for p in NODES:
        counted = (("failed_reduces", failures(p)),) if failures else ()
        found += 3 * [ScalingPoint(p, law.throughput(p) / (stretches or {}).get(p, 1), counted)]
    return found


def _fitted(law: Law) -> tuple[list[ScalingPoint], list[Fit | LeftOut]]:
    points = _runs(law)
    return points, fit_all(points, resamples=20)


def _noisy(law: Law, seed: int) -> list[ScalingPoint]:
    lots = np.random.default_rng(seed)
    return [
        ScalingPoint(p, law.throughput(p) * (1 + 0.03 * lots.normal()))
        for p in NODES
        for _ in "abc"
    ]


def test_straight_lines_have_no_pole_and_no_ceiling() -> None:
    fits = fit_all([ScalingPoint(p, p) for p in (1, 2, 4, 8)], resamples=20)
    assert [fit.law.ceiling for fit in fits if isinstance(fit, Fit)] == 3 * [None]


@pytest.mark.unhurried
def test_noise_is_seldom_called_superlinear() -> None:
    law, verdicts = Law(0.0, 1e-3), []
    for seed in range(16):
        lots = np.random.default_rng(seed)
        points = [
            ScalingPoint(p, law.throughput(p) * (1 + 0.05 * lots.normal()))
            for p in (1, 2, 4, 8, 16)
            for _ in "abc"
        ]
        verdicts.append(diagnose(points, fit_all(points, resamples=60)).verdict)
    assert sum("superlinear" in verdict for verdict in verdicts) <= 3


def test_equal_throughputs_are_not_called_slower() -> None:
    points = [ScalingPoint(p, 5) for p in (1, 2, 4, 8)]
    assert diagnose(points, fit_all(points, resamples=20)).verdict.startswith("no scaling")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'1,"{"9" * 200_000}"', "is not CSV: field larger"),
        ('1,"2\n2,3', "a quoted cell goes over several lines"),
        ("1,1e300", "give it in another unit"),
    ],
)
def test_what_cannot_be_computed_is_one_clear_error(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(f"p,throughput\n{text}\n")
    assert run_command(["bench", "usl", str(file)]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_that_is_not_drawn_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("p,throughput\n4,3\n")
    assert run_command(["bench", "usl", str(file), "--svg", str(tmp_path / "x.svg")]) == 1
    assert "is not written: no fit could be made" in capsys.readouterr().err


def test_help_shows_the_system_of_vas_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAS_PROGRAM", "./vas")
    assert run_command(["bench", "usl", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "./vas bench usl results.jsonl --system vas --svg" in shown


def test_runs_that_no_law_fits_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("p,throughput\n1,2\n2,3\n")
    assert run_command(["bench", "usl", str(file)]) == 1
    assert capsys.readouterr().out == "no law: no fit was possible\n"
