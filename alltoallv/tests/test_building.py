"""The library is built by one make at a time, whoever else builds."""

from __future__ import annotations

import fcntl

import pytest

from vas_a2av import building


def test_two_builds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def make(argv: list[object], **_: object) -> None:
        started.append(argv[0])
        with (building.SOURCES / "Makefile").open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    monkeypatch.setattr(building, "require", lambda _: None)
    monkeypatch.setattr(building, "run", make)
    building.build_for(building.MPICH)
    building.build_for(building.MPICH)
    assert started == ["make", "make"]
