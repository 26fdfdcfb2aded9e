"""Arms in turns: the order, and what is made of the samples."""

from __future__ import annotations

import pytest

from vas_bench.arms.rounds import Comparison, run_rounds
from vas_core.cli import run_command
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import ARMS, Arm

CHOSEN = ARMS[1:]


class Recorded:
    """Stands in for a data set in a lab: an arm takes as many seconds as its name has letters."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, arm: Arm) -> JobResult:
        self.ran.append(arm.name)
        job = {"DATA_LOCAL_MAPS": 4, "TOTAL_LAUNCHED_MAPS": 4}
        return JobResult(
            application_id="application_1_1",
            job_id="job_1_1",
            state="SUCCEEDED",
            seconds=len(arm.name) + len(self.ran) / 100,
            client_seconds=1,
            wall_seconds=1,
            cpu_seconds=1,
            counters={"org.apache.hadoop.mapreduce.JobCounter": job, "": {"CPU_MILLISECONDS": 9}},
            map_counters={},
        )

    def validate(self, _: Arm) -> str:
        return "abc"


def comparison(rounds: int, seed: int = 1) -> tuple[Recorded, Comparison]:
    recorded = Recorded()
    samples = run_rounds(recorded, CHOSEN, rounds=rounds, seed=seed, say=lambda _: None)
    return recorded, Comparison(tuple(samples), "real hosts")


def test_every_round_runs_every_arm_once_and_orders_differ() -> None:
    recorded, _ = comparison(8)
    width = len(CHOSEN)
    rounds = [tuple(recorded.ran[i : i + width]) for i in range(0, 8 * width, width)]
    assert all(sorted(each) == sorted(arm.name for arm in CHOSEN) for each in rounds)
    assert len(set(rounds)) > 1


def test_the_same_seed_draws_the_same_order() -> None:
    assert comparison(4, seed=7)[0].ran == comparison(4, seed=7)[0].ran


def test_arms_are_compared_with_the_base() -> None:
    _, found = comparison(5)
    assert found.arms == ["real hosts", "VAS", "VAS placement"]
    assert round(found.ratio("VAS", "job_seconds").value, 1) == 0.3
    rows = list(found.rows())
    assert rows[0][:2] == ("real hosts", "20 of 20")
    assert rows[0][4] == "base"
    assert {row["arm"] for row in found.as_json()["ratios"]} == {"VAS", "VAS placement"}
    assert len(found.as_json()["samples"]) == 15


def test_dry_run_tells_the_order_and_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "arms", "--rounds", "3", "--arm", "VAS", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert sorted(line.strip() for line in lines) == [
        f"{number}  {arm}" for number in (1, 2, 3) for arm in ("VAS", "real hosts")
    ]
