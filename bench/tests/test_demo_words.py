"""The words of `vas demo`."""

from __future__ import annotations

import pytest

from vas_bench.demo import command
from vas_core.cli import run_command


def test_spark_and_other_arms_are_one_of_the_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["demo", "--spark", "--arms", "jbs"]) == 2
    assert "one of the two" in capsys.readouterr().err


def test_spark_runs_the_sort_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    monkeypatch.setattr(command, "check_no_demo", lambda directory: None)
    monkeypatch.setattr(command, "check_room", lambda size, directory: None)
    monkeypatch.setattr(command, "run_spark_demo", lambda options, size, **_: ran.append(size))
    assert run_command(["demo", "--spark", "--size", "64M"]) == 0
    assert ran == [64 << 20]
