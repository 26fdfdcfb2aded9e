"""What the JobHistoryServer's answers are read as."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from vas_core.errors import VasError
from vas_yarn.history import History, MapAttempt, Split
from vas_yarn.rest import WebAnswer, WebServer


def test_a_value_that_looks_like_a_number_is_text_again(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = [
        {"name": "vas.lustre.block-size", "value": 16777216},
        {"name": "mapreduce.job.tags", "value": "vas-shuffle"},
    ]
    answer = json.dumps({"conf": {"property": properties}})
    monkeypatch.setattr(WebServer, "read", lambda *_: WebAnswer(answer, None))
    found = History("http://rm:19888").properties("job_1_1")
    assert found == {"vas.lustre.block-size": "16777216", "mapreduce.job.tags": "vas-shuffle"}


def test_the_splits_of_one_container_come_from_the_log_of_each_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = {
        "ws/v1/history/containerlogs/c1/syslog": "Processing split: lustre:/in/a:0+64",
        "ws/v1/history/containerlogs/c1/syslog-m2": "Processing split: lustre:/in/a:64+64",
        "ws/v1/history/containerlogs/c2/syslog": "Processing split: lustre:/in/b:0+64",
    }
    monkeypatch.setattr(WebServer, "read", lambda _, path: WebAnswer(logs[path], None))
    later, first, other = (
        MapAttempt("t", "m2", "vm1", "c1", start_ms=20, finish_ms=30),
        MapAttempt("t", "m1", "vm1", "c1", start_ms=10, finish_ms=19),
        MapAttempt("t", "m3", "vm2", "c2", start_ms=15, finish_ms=30),
    )
    assert History("http://rm:19888").splits([later, first, other]) == {
        later: Split("/in/a", 64, 64),
        first: Split("/in/a", 0, 64),
        other: Split("/in/b", 0, 64),
    }


def split_of(log: str, monkeypatch: pytest.MonkeyPatch) -> Split | None:
    monkeypatch.setattr(WebServer, "read", lambda *_: WebAnswer(log, None))
    attempt = MapAttempt("t", "m", "vm1", "c", start_ms=1, finish_ms=2)
    return History("http://rm:19888").splits([attempt])[attempt]


@pytest.mark.parametrize(
    ("log", "split"),
    [
        ("Processing split: a" * 100_000, None),
        ("Processing split: a:1+1 x" * 100_000, None),
        ("Processing split: lustre:/a\0b:0+1\n", None),
        (f"Processing split: lustre:/a:{'9' * 5_000}+1\n", None),
        ("Processing split: lustre:/a:\u0663+1\n", None),
        ("Processing split: x\nProcessing split: lustre:/a:b:3+4 \n", Split("/a:b", 3, 4)),
    ],
)
def test_a_log_may_hold_anything_and_is_read_in_one_pass(
    log: str, split: Split | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the job's own: an expression that searched 2 MB of it had not ended after 30 s."""
    began = time.monotonic()
    assert split_of(log, monkeypatch) == split
    assert time.monotonic() - began < 5


_TASK = {"id": "t", "successfulAttempt": "a", "state": "SUCCEEDED"}
_ATTEMPT = {
    "id": "a",
    "nodeHttpAddress": "vm1:8042",
    "assignedContainerId": "c",
    "startTime": 1,
    "finishTime": 2,
}


@pytest.mark.parametrize(
    "tasks", ["x", ["x"], [7], [None], [{}], [{**_TASK, "state": 7}], [{**_TASK, "id": ["t"]}]]
)
def test_tasks_of_another_shape_are_an_error_that_names_the_server(
    tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = json.dumps({"tasks": {"task": tasks}})
    monkeypatch.setattr(WebServer, "read", lambda *_: WebAnswer(answer, None))
    with pytest.raises(VasError, match=r"http://rm:19888: mapreduce/jobs/j/.*answers no "):
        History("http://rm:19888").maps("j")


@pytest.mark.parametrize("key", [*_ATTEMPT])
@pytest.mark.parametrize("value", [None, [], {}, True, 1 << 70, float("inf")])
def test_an_attempt_of_another_shape_is_an_error(
    key: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = json.dumps({"tasks": {"task": _TASK}, "taskAttempt": {**_ATTEMPT, key: value}})
    monkeypatch.setattr(WebServer, "read", lambda *_: WebAnswer(answer, None))
    with pytest.raises(VasError, match=f"answers no {key} as Hadoop does"):
        History("http://rm:19888").maps("j")


@pytest.mark.parametrize(
    "answer",
    [
        {"job": {}},
        {"job": {"finishTime": "x"}},
        {"conf": {"property": [1]}},
        {"conf": {"property": [{"name": "a"}]}},
        {"jobCounters": {"counterGroup": [{"counterGroupName": 1}]}},
        {"jobCounters": {"counterGroup": {"counterGroupName": "g", "counter": [{"name": "c"}]}}},
    ],
)
def test_a_job_of_another_shape_is_an_error(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WebServer, "read", lambda *_: WebAnswer(json.dumps(answer), None))
    history = History("http://rm:19888")
    ask = {"job": history.finish_ms, "conf": history.properties, "jobCounters": history.counters}
    with pytest.raises(VasError, match="answers no"):
        ask[next(iter(answer))]("j")
