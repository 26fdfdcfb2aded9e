"""A job's client: what it says is understood, and one that does not end is killed with its job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from vas_core.errors import VasError
from vas_yarn.jobs.client import JobClient, JobProgram
from vas_yarn.jobs.events import Event

pytestmark = pytest.mark.machine

_SUBMITS = "print('INFO impl.YarnClientImpl: Submitted application application_1_2', flush=True)"
_ENDS = "print('INFO mapreduce.Job: Job: Job job_1_2 completed successfully')"


class Servers:
    """The ResourceManager and the JobHistoryServer, which know one job."""

    def __init__(self, kind: str = "MAPREDUCE") -> None:
        self.killed: list[str] = []
        self._kind = kind

    def kind(self, _: str) -> str:
        return self._kind

    def kill(self, application: str) -> None:
        self.killed.append(application)

    def state(self, application: str) -> str:
        return "KILLED" if application in self.killed else "RUNNING"

    def job(self, _: str) -> dict[str, Any]:
        return {"submitTime": 1000, "finishTime": 8500, "state": "SUCCEEDED"}

    def counters(self, _: str, of: str = "total") -> dict[str, dict[str, int]]:
        return {"group": {"BYTES_READ": 5 if of == "total" else 3}}


def client(
    tmp_path: Path, servers: Any, code: str, heard: list[Event], limit: float | None = None
) -> JobClient:
    argv = [sys.executable, "-c", code]
    program = JobProgram(name="Sorter", argv=argv, log=tmp_path / "log", limit_seconds=limit)
    return JobClient(program, servers, servers, heard.append)


def test_what_became_of_a_job_is_the_historys_to_say(tmp_path: Path) -> None:
    heard: list[Event] = []
    code = f"{_SUBMITS}; {_ENDS}; print('a result')"
    made = client(tmp_path, Servers(), code, heard).run()
    assert (made.job_id, made.seconds, made.state) == ("job_1_2", 7.5, "SUCCEEDED")
    assert (made.counter("BYTES_READ"), made.map_counter("BYTES_READ")) == (5, 3)
    assert [event.text for event in heard if event.kind == "output"][-1] == "a result"


def test_what_is_not_mapreduces_has_no_counters(tmp_path: Path) -> None:
    made = client(tmp_path, Servers("TEZ"), f"{_SUBMITS}; {_ENDS}", []).run()
    assert (made.counters, made.state) == ({}, "SUCCEEDED")


@pytest.mark.unhurried
def test_a_job_that_hangs_is_killed_and_that_is_said(tmp_path: Path) -> None:
    servers = Servers()
    code = f"import time; {_SUBMITS}; time.sleep(600)"
    with pytest.raises(VasError, match="killed: it had not ended after 2 s, its time limit"):
        client(tmp_path, servers, code, [], limit=2.0).run()
    assert servers.killed == ["application_1_2"]


@pytest.mark.unhurried
def test_one_that_never_stops_talking_is_killed_too(tmp_path: Path) -> None:
    code = "while True: print('x' * 100, flush=True)"
    with pytest.raises(VasError, match="its time limit"):
        client(tmp_path, Servers(), code, [], limit=0.5).run()


def test_a_client_that_fails_says_its_last_words(tmp_path: Path) -> None:
    code = "import sys; print('no such queue'); sys.exit(3)"
    with pytest.raises(VasError, match=r"(?s)Sorter: .*status 3:\nno such queue"):
        client(tmp_path, Servers(), code, []).run()
