"""`vas bench arrivals`: real daemons place the threads of a real service."""

from __future__ import annotations

import json
import os

import pytest

from vas_affinity.arrivals.way import NoticeWay
from vas_bench.arrivals.measure import ArrivalFigures
from vas_core.cli import run_command


@pytest.mark.machine
@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU: nothing can be moved")
def test_it_counts_every_thread_and_the_daemons_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "arrivals", "--time", "6s", "--way", "scan", "--forks", "20", "--json"]
    assert run_command(words) == 0
    found = json.loads(capsys.readouterr().out)
    (scan,) = found["ways"]
    assert scan["way"] == "scan"
    assert (scan["threads"], scan["placed"]) == (5, 5)
    assert 0 < scan["cpu_share"] < 1
    assert found["processes_per_second"] >= 20
    delays = [scan["delay_ms"][name] for name in ("median", "p95", "p99", "longest")]
    assert delays == sorted(delays)
    assert delays[0] > 0


def test_a_share_of_the_delays_is_the_one_that_so_many_did_not_exceed() -> None:
    figures = ArrivalFigures(NoticeWay.SCAN, 0.01, 5, (10.0, 20.0, 30.0, 40.0))
    assert [figures.delay_ms(share) for share in (0.5, 0.95, 1.0)] == [20.0, 40.0, 40.0]
    assert ArrivalFigures(NoticeWay.SCAN, 0.01, 5, ()).delay_ms(0.5) is None
