"""What the JobHistoryServer's answers are read as."""

from __future__ import annotations

import json

import pytest

from vas_yarn.history import History
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
