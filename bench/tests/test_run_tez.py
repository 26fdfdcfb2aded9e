"""What is known of a job on Tez: from a history that one wrote."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_up_jobs import a_job

from vas_bench.results.measures import measure_of
from vas_bench.results.record import UNACCOUNTED, close
from vas_bench.run.measures import job_measures
from vas_bench.run.tez import WithTez
from vas_bench.run.tez_history import TezHistory, parse
from vas_bench.run.times import phases_of
from vas_cluster import parse_cluster
from vas_core.errors import VasError
from vas_core.process import Completed
from vas_lab.sites import lab_site_yaml

HISTORY = (Path(__file__).parent / "tez/wordcount-history.txt").read_text()


@pytest.fixture
def history() -> TezHistory:
    found = parse(HISTORY)
    assert found is not None
    return found


def test_a_job_on_tez_is_measured_as_mapreduces_are(history: TezHistory) -> None:
    found = job_measures(history.job(a_job({})))
    assert all(measure_of(name) for name in found)
    # Of the application's submission and the end of its DAG: 4 maps of 16 MiB, 2 reducers.
    assert found["job_seconds"] == pytest.approx(30.27)
    assert (found["total_maps"], found["data_local_maps"], found["local_map_share"]) == (4, 4, 1)
    # Reducers ran in containers that maps had been in.
    assert found["containers_started"] == 1 + 4
    assert found["spilled_records"] == sum(a.count("SPILLED_RECORDS") for a in history.attempts)
    assert found["gc_seconds"] > 0
    assert found["metadata_operations"] > 0
    assert (found["failed_maps"], found["failed_reduces"]) == (0, 0)
    assert (64 << 20) <= found["input_bytes"] < (66 << 20)
    assert found["local_byte_share"] > 0.9


def test_groups_of_edges_count_nothing_twice(history: TezHistory) -> None:
    doubled = HISTORY.replace(
        '"counterGroups": [',
        '"counterGroups": [{"counterGroupName": "TaskCounter_a_OUTPUT_b", "counters": '
        '[{"counterName": "SPILLED_RECORDS", "counterValue": 1000000}]}, ',
    )
    assert doubled != HISTORY
    assert parse(doubled) == history


def test_its_phases_add_up_to_it(history: TezHistory) -> None:
    phases = phases_of(history.times())
    assert list(phases) == ["start", "map", "shuffle", "merge", "reduce"]
    closed = close(phases, history.job(a_job({})).seconds)
    assert closed["map"] > closed["shuffle"] > 0
    assert 0 <= closed[UNACCOUNTED] < 1


def test_an_attempt_that_failed_is_counted_and_has_no_times(history: TezHistory) -> None:
    failed = parse(HISTORY.replace('"status": "SUCCEEDED"', '"status": "FAILED"', 1))
    assert failed is not None
    assert failed.job(a_job({})).counter("NUM_FAILED_MAPS") == 1
    assert len(failed.times().maps) == len(history.times().maps) - 1


def test_a_history_that_is_still_written_is_none_yet() -> None:
    assert parse("") is None
    assert parse(HISTORY[: HISTORY.rindex('{"entity": "dag_')]) is None


def test_an_event_that_is_not_whole_yet_is_not_there_yet(history: TezHistory) -> None:
    end = HISTORY.rindex('{"entity": "dag_')
    for cut in range(end, len(HISTORY.rstrip("\u0001\n")), 97):
        assert parse(HISTORY[:cut]) is None
    assert parse(HISTORY) == history


@pytest.mark.parametrize(
    "text",
    [
        HISTORY.replace('{"entity"', '{"entity', 1),
        HISTORY.replace('"appSubmitTime"', '"another"'),
        HISTORY.replace('"counterName"', '"another"'),
        "[1]\u0001[2]\u0001",
    ],
)
def test_a_history_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(VasError, match="Tez's history of the job cannot be read"):
        parse(text)


class Place:
    """A place where a job of Tez's runs, whose history is there when it is asked again."""

    def __init__(self) -> None:
        self.spec = SimpleNamespace(cluster=parse_cluster(lab_site_yaml(1), "lab"))
        self.answers = ["", HISTORY]
        self.asked: list[str] = []
        self.made = a_job({})

    def run_job(self, *_: object, **__: object) -> object:
        return self.made

    def call(self, argv: list[str], **_: object) -> Completed:
        self.asked.append(argv[-1])
        return Completed(tuple(argv), 0, self.answers.pop(0), "")


def test_a_place_waits_for_the_history_of_tez() -> None:
    inner: Any = Place()
    place = WithTez(inner, "/a/tez")
    job = place.run_job(["wordcount"])
    assert job.total_maps == 4
    assert inner.asked == ["/run/lustre/a/tez/history.txt.appattempt_1_1_000001"] * 2
    assert place.last == parse(HISTORY)
    inner.made = a_job({"group": {"BYTES_READ": 1}})
    assert place.run_job(["wordcount"]) == inner.made
    assert place.last is None
