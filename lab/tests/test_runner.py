"""The program that runs a job inside a lab."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from vas_lab.inside import runner
from vas_lab.messages import JobRequest
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_yarn.jobs.client import JobProgram
from vas_yarn.jobs.job import JobResult

pytestmark = pytest.mark.machine


def test_a_labs_jobs_have_the_limit_of_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[JobProgram] = []

    class Ended:
        def __init__(self, program: JobProgram, *_: object) -> None:
            programs.append(program)

        def run(self, _: int) -> JobResult:
            return made

    ids = {"application_id": "a", "job_id": "j", "state": "SUCCEEDED"}
    times = dict.fromkeys(("seconds", "client_seconds", "wall_seconds", "cpu_seconds"), 0)
    made = JobResult.model_validate({**ids, **times, "counters": {}, "map_counters": {}})
    monkeypatch.setattr(runner, "JobClient", Ended)
    # Of this machine, whose processes may end uncounted: only a lab waits for all of its own.
    used = iter((5.0, 7.5))
    monkeypatch.setattr(runner, "cpu_seconds", lambda _: next(used))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: 0))
    spec = LabSpec(
        name="x",
        state_dir=tmp_path,
        hadoop_lib=tmp_path,
        plugin_jar=None,
        java_home=tmp_path,
        user_namespace=True,
        job_limit_seconds=90,
    )
    spec.cluster_file.write_text(lab_site_yaml(1))
    spec.conf.mkdir()
    spec.temporary.mkdir()
    request = JobRequest(main=("org.example.Sorter",), properties={}, log=tmp_path / "log")
    done = runner.run_program(spec, request)
    assert [(program.name, program.limit_seconds) for program in programs] == [("Sorter", 90)]
    assert done.cpu_seconds == 2.5
