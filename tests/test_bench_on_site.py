"""`vas bench run --cluster` on a site: a lab that is there already, used by its map alone.

What the command knows of it is what a real site gives: the map, a Hadoop configuration directory,
`hadoop` on PATH, Lustre mounted, and a command that runs programs on nodes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_bench.run.tez import fetch_tez, tez_version
from vas_core.process import Completed
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.in_lab import inside, resource_manager

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(1500)]

SYSTEMS = ["yarn-hdfs", "yarn-lustre", "tez", "vas"]
PLAN: dict[str, Any] = {
    "name": "small",
    "workloads": "terasort",
    "systems": SYSTEMS,
    "parameters": {"size": "64M", "split": "16M", "reducers": 2},
    "rounds": 1,
    "warm_up": 0,
}
# Within the lab, as ssh is on a site: into the namespaces that a process holds for the node.
REACH = """#!/bin/sh -eu
holder=$({python} -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \\
    {holders} "$1")
shift
exec nsenter --target "$holder" --mount --uts --net -- "$@"
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Lab]:
    """A lab with HDFS. What comes from Maven Central is there before: nothing is fetched inside."""
    fetch_tez(print)
    directory = REPOSITORY / "build" / "lab" / "test-bench-on-site"
    with Lab.start(LabOptions(state_dir=directory, hosts=2, hdfs=True), tied=True) as started:
        yield started


def bench(site: Lab, directory: Path, plan: dict[str, Any], *options: str) -> Completed:
    """`vas bench run` of a plan on the site's master."""
    file = directory / f"{plan['name']}.yaml"
    file.write_text(json.dumps(plan))
    argv = [sys.executable, "-m", "vas_core", "bench", "run", str(file)]
    named = ["--cluster", str(site.spec.cluster_file), "--directory", "/user/ann"]
    return site.call([*argv, *named, *options], check=False)


@pytest.fixture(scope="module")
def runs(site: Lab, tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchRun, ...]:
    """Every system once, with counting on nodes."""
    directory = tmp_path_factory.mktemp("site")
    reach, results = directory / "reach", directory / "r.jsonl"
    reach.write_text(REACH.format(python=sys.executable, holders=site.spec.holders_file))
    reach.chmod(0o755)
    options = ("--out", str(results), "--reach", f"{reach} {{node}}")
    done = bench(site, directory, PLAN, *options, "--report", str(directory / "r.html"))
    assert done.status == 0, done.stderr
    return read_results(directory / "r.html", say=print)


def test_every_system_sorts_the_same_rows(runs: tuple[BenchRun, ...]) -> None:
    assert sorted(run.system for run in runs) == sorted(SYSTEMS)
    assert [run.invalid for run in runs] == [None] * len(SYSTEMS)
    assert len({run.validation.checksum for run in runs if run.validation}) == 1
    assert {run.parameters["hosts"] for run in runs} == {2}
    assert {run.command for run in runs} == {"vas bench run small.yaml --cluster cluster.yaml"}
    assert all(run.environment["lost_nodes"] == [] for run in runs)
    assert len({run.configuration_hash for run in runs}) == len(SYSTEMS)
    versions = {run.system: run.versions.get("tez") for run in runs}
    assert versions == dict.fromkeys(SYSTEMS) | {"tez": tez_version()}


def test_runs_are_measured_as_in_a_lab(runs: tuple[BenchRun, ...]) -> None:
    for run in runs:
        assert list(run.phases) == ["start", "map", "shuffle", "merge", "reduce", "unaccounted"]
        assert sum(run.phases.values()) == pytest.approx(run.measures["job_seconds"], abs=0.05)
        # Tez keeps no record of which split a task had.
        read = 0 if run.system == "tez" else (64 << 20) // 100 * 100
        assert sum(host.input_bytes for host in run.hosts.values()) == read
        assert run.measures["containers_started"] > 1
        assert run.measures["cpu_seconds"] > run.measures["task_cpu_seconds"] > 0
        assert run.measures["network_sent_bytes/vf0"] > 0
        assert run.measures["page_cache_bytes"] > 0
        assert run.measures["metadata_operations"] > 0
        assert run.configuration["page_cache"] == "as the run before left it"
        if run.system == "vas":
            assert run.measures["local_map_share"] == 1


def test_the_site_is_left_as_it_was(site: Lab, runs: tuple[BenchRun, ...]) -> None:
    assert len(runs) == len(SYSTEMS)
    assert not list(_listed(site, str(inside(site, "user", "ann"))))
    assert "vas-bench" not in site.call(["hadoop", "fs", "-ls", "hdfs://rm:8020/user/ann"]).stdout


def _listed(site: Lab, directory: str) -> list[str]:
    return site.call(["ls", directory]).stdout.split()


def test_a_job_that_hangs_is_killed_and_its_run_is_invalid(site: Lab, tmp_path: Path) -> None:
    # Maps wait for a debugger that never comes. Input is made without the plan's properties.
    waits = "-Xmx288m -agentlib:jdwp=transport=dt_socket,server=y,suspend=y"
    hangs = {"properties": {"mapreduce.map.java.opts": waits}, "run_limit": "90s"}
    plan = PLAN | hangs | {"name": "hangs", "systems": "vas"}
    results = tmp_path / "r.jsonl"
    done = bench(site, tmp_path, plan, "--out", str(results))
    assert done.status == 1
    (run,) = read_results(results, say=print)
    assert run.invalid is not None
    assert "it had not ended after 90 s, its time limit" in run.invalid
    apps = resource_manager(site, "apps")["apps"]["app"]
    assert max(apps, key=lambda app: app["startedTime"])["state"] == "KILLED"
