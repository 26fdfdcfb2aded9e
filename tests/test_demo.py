"""`vas demo` as a user runs it: the whole command, its JSON, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vas_bench.demo.arms import WHAT_IT_SHOWS
from vas_bench.results.store import read_results
from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_tests.leftovers import (
    assert_nothing_left,
    command_line,
    descendants,
    mount_table,
    namespaces_below,
)

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1200)]

DEMO = [sys.executable, "-m", "vas_core", "demo", "--yes", "--json"]
KEYS = [
    "name",
    "data_local_maps",
    "rack_local_maps",
    "other_maps",
    "total_maps",
    "local_input_bytes",
    "input_bytes",
    "job_seconds",
    "cpu_seconds",
    "checksum",
    "containers_started",
    "job_ratio",
]


@pytest.fixture(scope="module")
def done() -> subprocess.CompletedProcess[str]:
    """A small demo on two hosts."""
    directory = Path(__file__).parents[1] / "build" / "lab" / "test-demo"
    directory.mkdir(parents=True, exist_ok=True)
    argv = [*DEMO, "--size", "128M", "--hosts", "2"]
    env = {**os.environ, "VAS_LABS": str(directory)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def arms(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Its arms."""
    found: list[dict[str, Any]] = json.loads(done.stdout)["arms"]
    return found


def test_stdout_is_the_arms_alone_and_stderr_says_what_they_show(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert list(json.loads(done.stdout)) == ["arms"]
    assert WHAT_IT_SHOWS in done.stderr


def test_four_arms_with_vas_last(arms: list[dict[str, Any]]) -> None:
    names = [arm["name"] for arm in arms]
    assert names == ["YARN-Lustre", "real hosts", "VAS placement", "VAS"]
    assert all(list(arm) == KEYS for arm in arms)


def test_all_arms_read_the_same_and_sort_it_right(arms: list[dict[str, Any]]) -> None:
    assert len({arm["checksum"] for arm in arms}) == 1
    assert {arm["input_bytes"] for arm in arms} == {128 * (1 << 20) // 100 * 100}
    for arm in arms:
        kinds = ("data_local_maps", "rack_local_maps", "other_maps")
        assert sum(arm[kind] for kind in kinds) == arm["total_maps"] == 8
        assert arm["job_seconds"] > 0
        assert arm["cpu_seconds"] > 0
        assert arm["job_ratio"] == round(arm["job_seconds"] / arms[1]["job_seconds"], 2)


def test_no_hosts_no_locality_and_vas_all_of_it(arms: list[dict[str, Any]]) -> None:
    none, _, *both = arms
    assert none["data_local_maps"] == 0
    assert none["local_input_bytes"] < none["input_bytes"]
    for vas in both:
        assert vas["data_local_maps"] == vas["total_maps"]
        # What a map reads besides is its split, a few records of the next one, and small files.
        assert 0.99 <= vas["local_input_bytes"] / vas["input_bytes"] <= 1.02


def test_only_the_last_arm_uses_containers_again(arms: list[dict[str, Any]]) -> None:
    *cold, warm = (arm["containers_started"] for arm in arms)
    tasks = arms[0]["total_maps"] + 2
    assert all(started >= 1 + tasks for started in cold)
    assert warm < 1 + tasks


def test_it_ends_with_a_report_and_says_where(
    done: subprocess.CompletedProcess[str], arms: list[dict[str, Any]]
) -> None:
    said = done.stderr.splitlines()[-1]
    assert said.startswith("report: ")
    page = Path(said.removeprefix("report: "))
    runs = read_results(page, say=print)
    assert [run.system for run in runs] == [
        "yarn-lustre",
        "yarn-lustre-hosts",
        "vas-locality",
        "vas",
    ]
    for run, arm in zip(runs, arms, strict=True):
        assert round(run.measures["job_seconds"], 3) == arm["job_seconds"]
        assert run.measures["data_local_maps"] == arm["data_local_maps"]
    assert len({run.time for run in runs}) == len(runs)
    assert read_results(page.with_name("results.jsonl"), say=print) == runs
    assert "no difference is sure" in page.read_text(encoding="utf-8")


@pytest.mark.skipif(
    not (REPOSITORY / "shuffled/target/release/vas-shuffled").exists(),
    reason="vas-shuffled is not built",
)
def test_two_more_arms_leave_map_output_on_the_nodes_disks_and_sort_it_right() -> None:
    argv = [*DEMO, "--size", "64M", "--hosts", "2", "--arms", "jbs"]
    env = {**os.environ, "VAS_LABS": str(REPOSITORY / "build/lab/test-demo-jbs")}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["arms"]
    assert [arm["name"] for arm in found][4:] == ["JBS", "JBS, own collector"]
    assert len({arm["checksum"] for arm in found}) == 1
    page = Path(done.stderr.splitlines()[-1].removeprefix("report: "))
    of_daemon = read_results(page, say=print)[4:]
    assert [run.system for run in of_daemon] == ["jbs", "jbs-collector"]
    assert all(run.measures["reduce_spilled_records"] == 0 for run in of_daemon)


MOMENTS: dict[str, Callable[[int, Path], bool]] = {
    # More than the lab's own four: some node's are there.
    "the lab's start": lambda pid, _: len(namespaces_below(pid)) > 4,
    "TeraGen": lambda _, log: "TeraGen" in log.read_text(),
    "TeraSort": lambda pid, log: "TeraSort" in log.read_text() and has_container(pid),
}


def has_container(pid: int) -> bool:
    """Whether YARN has started one below a process."""
    lines = (command_line(each) for each in descendants(pid))
    return any("YarnChild" in line or "MRAppMaster" in line for line in lines)


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_leaves_nothing(tmp_path: Path, moment: str) -> None:
    directory = Path(__file__).parents[1] / "build" / "lab" / "test-demo"
    directory.mkdir(parents=True, exist_ok=True)
    mounts = mount_table()
    log = tmp_path / "stderr"
    argv = [*DEMO, "--size", "32M", "--hosts", "2"]
    with log.open("wb") as stderr:
        env = {**os.environ, "VAS_LABS": str(directory)}
        demo = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=stderr)
    poll(lambda: MOMENTS[moment](demo.pid, log), bool, 300, moment)
    seen = namespaces_below(demo.pid)
    assert seen
    demo.send_signal(signal.SIGINT)
    assert demo.wait(60) == 130
    assert_nothing_left(directory / "demo", seen, mounts)
