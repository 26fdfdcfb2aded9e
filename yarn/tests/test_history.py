"""What the JobHistoryServer's answers are read as."""

from __future__ import annotations

import json

import pytest

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
