"""The priority of the daemon."""

from __future__ import annotations

import os

import pytest

from vas_routing.daemon.privileges import ask_for_priority


def test_the_least_real_time_priority_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []

    def note(pid: int, policy: int, param: os.sched_param) -> None:
        asked.append((pid, policy, param.sched_priority))

    monkeypatch.setattr(os, "sched_setscheduler", note)
    assert ask_for_priority()
    assert asked == [(0, os.SCHED_RR, 1)]


def test_without_the_right_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not ask_for_priority()
