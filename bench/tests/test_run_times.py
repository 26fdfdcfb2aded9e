"""A job's phases, from the times of its tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_jobs import times

from vas_bench.results.record import UNACCOUNTED, HostLocality, close
from vas_bench.run.jobs import localities
from vas_bench.run.times import phases_of
from vas_yarn.history import History, ReduceAttempt
from vas_yarn.rest import WebAnswer, WebServer


def test_phases_follow_one_another_and_the_rest_is_unaccounted() -> None:
    job = times(
        [(5000, 9000), (6000, 12_000)],
        [(13_000, 14_000, 14_500, 16_000), (13_500, 15_000, 15_200, 17_000)],
        20_000,
    )
    found = phases_of(job)
    assert found == {"start": 4.0, "map": 7.0, "shuffle": 2.0, "merge": 0.2, "reduce": 1.8}
    # A second until the first reducer, three until the job's end.
    assert close(found, 19.0)[UNACCOUNTED] == 4.0


def test_a_shuffle_that_maps_hide_takes_no_time() -> None:
    job = times([(2000, 10_000)], [(3000, 9000, 9500, 11_000)], 11_000)
    assert phases_of(job) == {"start": 1, "map": 8, "shuffle": 0, "merge": 0, "reduce": 1}


def test_without_reducers_there_are_two_phases_and_without_maps_none() -> None:
    assert phases_of(times([(2000, 3000)], [], 4000)) == {"start": 1, "map": 1}
    assert phases_of(times([], [], 4000)) == {}


_MOMENT = st.integers(0, 50_000)


@given(
    st.lists(st.tuples(_MOMENT, _MOMENT), max_size=4),
    st.lists(st.tuples(_MOMENT, _MOMENT, _MOMENT, _MOMENT), max_size=4),
    st.integers(1000, 40_000),
)
def test_whatever_clocks_say_phases_never_exceed_the_job(
    maps: list[tuple[int, int]], reduces: list[tuple[int, int, int, int]], finish: int
) -> None:
    job = (finish - 1000) / 1000
    closed = close(phases_of(times(maps, reduces, finish)), job)
    assert sum(closed.values()) == pytest.approx(job, abs=0.02)


def test_reducers_in_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "mapreduce/jobs/job_1_1/tasks?type=r": """{"tasks": {"task": [
            {"id": "r0", "state": "SUCCEEDED", "successfulAttempt": "r0_1"},
            {"id": "r1", "state": "KILLED", "successfulAttempt": ""}]}}""",
        "mapreduce/jobs/job_1_1/tasks/r0/attempts/r0_1": """{"taskAttempt": {
            "id": "r0_1", "startTime": 1, "shuffleFinishTime": 2, "mergeFinishTime": 3,
            "finishTime": 4}}""",
    }

    def read(_: WebServer, path: str) -> WebAnswer:
        return WebAnswer(answers[path.removeprefix("ws/v1/history/")], None)

    monkeypatch.setattr(WebServer, "read", read)
    assert History("http://rm:1").reduces("job_1_1") == [ReduceAttempt("r0", 1, 2, 3, 4)]


def test_localities_by_host() -> None:
    def row(ran_on: str, where: str, length: int | None, local: int) -> dict[str, object]:
        return {"ran_on": ran_on, "where": where, "length": length, "local_bytes": local}

    found = localities(
        [
            row("vm2", "remote", 10, 0),
            row("vm1", "local", 10, 9),
            row("vm1", "partner", 10, 0),
            row("vm1", "unknown", None, 0),
        ]
    )
    assert found == {
        "vm1": HostLocality(
            data_local_maps=1, rack_local_maps=1, local_input_bytes=9, input_bytes=20
        ),
        "vm2": HostLocality(other_maps=1, input_bytes=10),
    }
