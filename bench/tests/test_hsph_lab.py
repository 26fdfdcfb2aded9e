"""The five phases as a lab is told them; the lab is made up, and its jobs end at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.metric import PHASES
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.session import HsphRequest, played
from vas_bench.results.store import RunStore
from vas_bench.results.systems import ARM_OF
from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import BenchPlan
from vas_bench.site.options import SiteOptions
from vas_core.errors import VasError
from vas_core.process import Completed
from vas_lab.lab import Lab
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import TeraSortSizes
from vas_yarn.profiles import SHUFFLE

SIZES = TeraSortSizes(rows=10, split_bytes=16 << 20, generators=2, reducers=3)


class FakeLab:
    """Its input has two files and its output three, of as many rows as are said."""

    def __init__(self, rows: int = 10, checksum: str = "2a", cpu: float = 4.0) -> None:
        self._cpu = cpu
        self.calls: list[list[str]] = []
        self.told: list[dict[str, str]] = []
        self._rows, self._checksum = rows, checksum
        self.spec = SimpleNamespace(cluster=SimpleNamespace(lustre=SimpleNamespace(mount="/l")))

    def refuse_broken(self) -> None: ...

    def run_job(self, argv: Sequence[str], conf: dict[str, str]) -> JobResult:
        self.calls.append(list(argv))
        self.told.append(conf)
        counted: dict[str, Any] = {"TeraGen": {"CHECKSUM": 0x2A}}
        times = dict.fromkeys(("seconds", "client_seconds", "wall_seconds"), 1.0)
        ids = {"application_id": "a", "job_id": "j", "state": "SUCCEEDED"}
        found = {**ids, **times, "cpu_seconds": self._cpu, "counters": counted, "map_counters": {}}
        return JobResult.model_validate(found)

    def call(self, argv: list[str]) -> Completed:
        self.calls.append([argv[0], argv[-1]])
        files = 2 if argv[-1].endswith("/input") else 3
        listing = "\n".join(["100"] * (files - 1) + [str(100 * (self._rows - files + 1))])
        out = f"checksum\t{self._checksum}\n" if argv[0] == "cat" else listing
        return Completed(tuple(argv), 0, out, "")


def work(lab: FakeLab) -> PhaseWork:
    return PhaseWork(cast(Lab, lab), SIZES, ARM_OF["vas"], "/d")


def play(lab: FakeLab) -> PhaseWork:
    made = work(lab)
    made.clean()
    for phase in PHASES:
        made.play(phase)
    return made


def test_each_phase_is_its_program_on_the_system_that_is_measured() -> None:
    lab = FakeLab()
    made = play(lab)
    assert lab.calls == [
        ["rm", "/l/d"],
        ["teragen", "10", "/d/input"],
        ["sh", "/l/d/input"],
        ["terasort", "/d/input", "/d/output"],
        ["sh", "/l/d/output"],
        ["teravalidate", "/d/output", "/d/report"],
        ["cat", "/l/d/report/part-r-00000"],
    ]
    assert all(told.items() >= SHUFFLE.items() for told in lab.told)
    assert all(told["mapreduce.job.reduces"] == "3" for told in lab.told)
    assert (made.cpu_seconds, made.checksum) == (12.0, "2a")


def test_a_second_run_begins_from_nothing() -> None:
    lab = FakeLab()
    made = play(lab)
    made.clean()
    assert lab.calls[-1] == ["rm", "/l/d"]
    assert (made.cpu_seconds, made.checksum) == (0.0, "")


def test_rows_that_are_not_there_fail_the_check_and_not_a_later_phase() -> None:
    lab = FakeLab(rows=9)
    with pytest.raises(VasError, match="9 rows, 10 were to be written"):
        play(lab)
    assert lab.calls[-1] == ["sh", "/l/d/input"]


def test_rows_that_were_changed_fail_the_validation() -> None:
    with pytest.raises(VasError, match="rows were lost or changed: checksum 2b"):
        play(FakeLab(checksum="2b"))


class FakeSite:
    """A site that is there; its client knows nothing of its nodes' CPU."""

    def __init__(self, plan: BenchPlan, options: SiteOptions, _: object) -> None:
        self.plan, self.done = plan, [str(options.cluster_file)]
        self.learned = options.cluster_file.parent / "learned.json"
        self.place = FakeLab(rows=10_000, cpu=0)
        self.jobs = SimpleNamespace(place=self.place, directory="/user/ann/vas-bench-hsph")

    def check(self, _: object) -> None:
        self.done.append("check")

    def up(self, _: object) -> None:
        self.done.append("up")

    def down(self) -> None:
        self.done.append("down")

    def arm(self, experiment: Experiment) -> Arm:
        return ARM_OF[experiment.system]

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        return RunIdentity(experiment, {"site": "ours"}, {})

    def environment(self) -> dict[str, Any]:
        return {"lost_nodes": []}


def test_on_a_site_nothing_is_started_and_what_is_not_known_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vas_bench.hsph.phase_work.check_data", lambda *_, **__: None)
    parameters = {"size": "16M", "split": "16M", "reducers": 1, "hosts": 1}
    fields = {"name": "hsph", "workloads": "terasort", "systems": "vas"}
    plan = BenchPlan.model_validate(fields | {"parameters": parameters})
    options = SiteOptions(cluster_file=tmp_path / "site.yaml")
    sites: Any = [FakeSite(plan, options, print) for _ in range(2)]
    with RunStore.open(None) as store:
        request = HsphRequest(0.0001, "vas bench hsph", print, store)
        ended = played(request, sites[0], in_lab=False)
        again = played(replace(request, resume=True), sites[1], in_lab=False)
    first, second = ended.made
    assert again.made == ()
    site, resumed = sites
    assert resumed.done == [str(options.cluster_file), "check"]
    assert site.done == [str(options.cluster_file), "check", "up", "down"]
    assert (first.round, second.round) == (1, 2)
    assert "cpu_seconds" not in first.measures
    assert "energy_joules" not in first.measures
    redundancy = "the site's own; TPCx-HS asks for three, or for their like"
    assert first.configuration["redundancy"] == redundancy
    assert site.place.calls[0] == ["rm", "/l/user/ann/vas-bench-hsph/hsph"]
