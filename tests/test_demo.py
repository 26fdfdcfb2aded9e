"""`vas demo` as a user runs it: the whole command, its JSON, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_lab.polling import poll

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

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
]


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The arms of a small demo on two hosts."""
    directory = Path(__file__).parents[1] / "build" / "lab" / "test-demo"
    directory.mkdir(parents=True, exist_ok=True)
    argv = [*DEMO, "--size", "128M", "--hosts", "2"]
    env = {**os.environ, "VAS_LABS": str(directory)}
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["arms"]
    return found


def test_three_arms_with_vas_last(arms: list[dict[str, Any]]) -> None:
    assert [arm["name"] for arm in arms] == ["YARN-Lustre", "real hosts", "VAS"]
    assert all(list(arm) == KEYS for arm in arms)


def test_all_arms_read_the_same_and_sort_it_right(arms: list[dict[str, Any]]) -> None:
    assert len({arm["checksum"] for arm in arms}) == 1
    assert {arm["input_bytes"] for arm in arms} == {128 * (1 << 20) // 100 * 100}
    for arm in arms:
        kinds = ("data_local_maps", "rack_local_maps", "other_maps")
        assert sum(arm[kind] for kind in kinds) == arm["total_maps"] == 8
        assert arm["job_seconds"] > 0
        assert arm["cpu_seconds"] > 0


def test_no_hosts_no_locality_and_vas_all_of_it(arms: list[dict[str, Any]]) -> None:
    none, _, vas = arms
    assert none["data_local_maps"] == 0
    assert none["local_input_bytes"] < none["input_bytes"]
    assert vas["data_local_maps"] == vas["total_maps"]
    assert vas["local_input_bytes"] >= 0.99 * vas["input_bytes"]


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    directory = Path(__file__).parents[1] / "build" / "lab" / "test-demo"
    directory.mkdir(parents=True, exist_ok=True)
    log = tmp_path / "stderr"
    with log.open("wb") as stderr:
        env = {**os.environ, "VAS_LABS": str(directory)}
        demo = subprocess.Popen(DEMO, env=env, stdout=subprocess.DEVNULL, stderr=stderr)
    poll(log.read_text, lambda text: "TeraGen" in text, 120, "TeraGen to begin")
    demo.send_signal(signal.SIGINT)
    assert demo.wait(60) == 130
    poll(lambda: processes_in(directory), lambda found: not found, 30, "its processes to end")


def processes_in(directory: Path) -> list[str]:
    """The command lines that name the directory: every process of its lab does."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(directory) in line:
            found.append(line)
    return found
