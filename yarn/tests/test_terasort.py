"""Where TeraSort's arms write: Hadoop takes a comma in an input path for two paths."""

from __future__ import annotations

from typing import Any, cast

import pytest

from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import ARMS, NODE_ARMS, Arm
from vas_yarn.jobs.terasort import TeraSort, TeraSortSizes

EVERY_ARM = (*ARMS, *NODE_ARMS)


class Asked:
    """A place that keeps the words of each program that it is asked to run."""

    def __init__(self) -> None:
        self.programs: list[list[str]] = []

    def run_job(self, argv: list[str], *_: object, **__: object) -> JobResult:
        self.programs.append(argv)
        return cast(JobResult, None)

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


def output_of(arm: Arm, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("vas_yarn.jobs.terasort.remove_tree", lambda *_: None)
    place = Asked()
    TeraSort(cast(JobPlace, place), TeraSortSizes.of(64 << 20, 1), "/d").run(arm)
    ((_, _, output),) = place.programs
    return output


def test_each_arm_has_an_output_of_its_own_that_hadoop_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = [output_of(arm, monkeypatch) for arm in EVERY_ARM]
    assert len(set(outputs)) == len(EVERY_ARM)
    assert not any(set(output) & set(", {}*?") for output in outputs)
