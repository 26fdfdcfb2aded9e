"""Counters that grow during a run become curves, a line in results, and a figure."""

from __future__ import annotations

import json
import sys

import pytest
from made_up_runs import made_up_run
from pydantic import ValidationError

from vas_bench.report.charts.over_time import RateLine
from vas_bench.report.curves_figure import curve_figures
from vas_bench.report.facts import facts_of
from vas_bench.results.record import BenchRun
from vas_bench.run.lab_links import LinkCurves, curves_of, peak_of
from vas_cluster import parse_cluster
from vas_lab.sites import lab_site_yaml

OTHERS = "link_bytes/other hosts"


def line(read: int) -> str:
    """Returns the line that a lab's links print when they are asked."""
    wire = {"client": "vm1", "server": "oss2", "read": read, "written": 0}
    return json.dumps({"wires": [wire], "waits": []})


@pytest.mark.machine
def test_the_program_is_heard_until_it_is_stopped() -> None:
    cluster = parse_cluster(lab_site_yaml(2), "lab")
    script = (
        f"import sys, time; print({line(0)!r}, flush=True); sys.stdin.read(); time.sleep(0.05);"
        f"print({line(7)!r})"
    )
    counted = iter([{"device_requests": 5}, {"device_requests": 6}])
    curves = LinkCurves(
        [sys.executable, "-c", script], cluster, lambda: next(counted), [OTHERS, "device_requests"]
    ).stop()
    assert [so_far for _, so_far in curves[OTHERS]] == [0, 7]
    assert [so_far for _, so_far in curves["device_requests"]] == [0, 1]


def test_curves_begin_at_the_first_look_and_leave_out_what_did_not_grow() -> None:
    looks = [(5.0, {"a": 10, "b": 1}), (6.0, {"a": 30, "b": 1}), (8.5, {"a": 31, "b": 1})]
    assert curves_of(looks, ["a", "b"]) == {"a": [(0.0, 0), (1.0, 20), (3.5, 21)]}
    assert curves_of(looks[:1], ["a"]) == {}


def test_the_peak_is_of_all_links_together() -> None:
    curves = {
        "link_bytes/own host": [(0.0, 0.0), (1.0, 10.0), (3.0, 10.0)],
        OTHERS: [(0.0, 0.0), (1.0, 0.0), (3.0, 60.0)],
        "device_requests": [(0.0, 0.0), (1.0, 900.0), (3.0, 900.0)],
    }
    assert peak_of(curves) == {"link_bytes_per_second/peak": 30.0}
    assert peak_of({}) == {}


def run_with(seconds: float, points: list[tuple[float, float]], **changed: object) -> BenchRun:
    measures = {"job_seconds": seconds}
    return made_up_run(
        id=f"run-{seconds}", measures=measures, phases={}, curves={OTHERS: points}, **changed
    )


@pytest.mark.parametrize(
    ("name", "points", "why"),
    [
        ("nobody", [(0.0, 0.0)], "unknown measures: nobody"),
        (OTHERS, [(0.0, 0.0), (0.0, 1.0)], "not in order of time"),
    ],
)
def test_curves_that_could_mislead_are_refused(
    name: str, points: list[tuple[float, float]], why: str
) -> None:
    with pytest.raises(ValidationError, match=why):
        made_up_run(curves={name: points})


def test_a_run_without_curves_is_written_as_before() -> None:
    assert "curves" not in made_up_run().model_dump_json()


def test_a_figure_has_the_run_with_the_median_job_time() -> None:
    runs = [run_with(seconds, [(0.0, 0.0), (2.0, seconds * 2**20)]) for seconds in (10, 20, 40)]
    (figure,) = curve_figures(facts_of(runs).comparisons[0], 1)
    assert [row[1:] for row in figure.rows] == [("10", "20", "2")]
    assert "MiB/s" in figure.columns[1]


def test_a_line_steps_from_look_to_look() -> None:
    line = RateLine("vas", 0, [(0.0, 0.0), (2.0, 6.0), (3.0, 6.0)])
    assert line.rates == [(0.0, 2.0, 3.0), (2.0, 3.0, 0.0)]
    assert line.peak == 3.0
