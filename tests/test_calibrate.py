"""`vas route calibrate --lab`: real iperf3, over links as fast as the paper's, 1 to 10."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vas_routing.choices import read_choices
from vas_routing.links import Leg
from vas_tests.leftovers import mentioning, mount_table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3"),
]

CALIBRATE = [sys.executable, "-m", "vas_core", "route", "calibrate", "--lab"]
SHORT = ["--seconds", "1", "--runs", "1"]
PAIR = frozenset(("vm1", "oss1"))
CASES = [
    ("VM to own host", "vm1", "oss1", "virtio"),
    ("VM to own host", "vm1", "oss1", "sriov"),
    ("VM to other host", "vm1", "oss2", "virtio"),
    ("VM to other host", "vm1", "oss2", "sriov"),
    ("VM to other host's VM", "vm1", "vm2", "virtio"),
    ("VM to other host's VM", "vm1", "vm2", "sriov"),
]


@pytest.fixture
def nothing_left() -> Iterator[None]:
    mounts = mount_table()
    yield
    assert not mentioning("vas-calibrate-")
    assert mount_table() == mounts


def calibrate(*options: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [*CALIBRATE, *SHORT, *options]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.usefixtures("nothing_left")
def test_each_destination_gets_the_faster_path_and_the_policy_reads_it(tmp_path: Path) -> None:
    output = tmp_path / "choices.json"
    done = calibrate("--json", "--output", str(output))
    found: dict[str, Any] = json.loads(done.stdout)
    keys = ("case", "source", "destination", "interface")
    assert [tuple(case[key] for key in keys) for case in found["cases"]] == CASES
    assert all(case["gbps"] > 0 and case["spread"] >= 0 for case in found["cases"])
    choices = {choice["destination"]: choice for choice in found["choices"]}
    assert {to: (choice["path"], choice["ok"]) for to, choice in choices.items()} == {
        "oss1": ("virtio", True),
        "oss2": ("sriov", True),
        "vm2": ("sriov", True),
    }
    # 2.1 : 1 by tc; a machine that is too busy for 1.5 Gbit/s still shows more than 1 : 1.
    assert choices["oss1"]["ratio"] > 1.2
    assert choices["oss2"]["ratio"] < 0.9 and choices["vm2"]["ratio"] < 0.95
    assert read_choices(output) == {PAIR: Leg.VIRTIO}
    assert "[1/2] round 1, sriov" in done.stderr


@pytest.mark.usefixtures("nothing_left")
def test_a_switcher_that_takes_the_slower_path_is_found(tmp_path: Path) -> None:
    wrong = tmp_path / "choices.json"
    wrong.write_text('{"pairs": [{"nodes": ["vm1", "oss1"], "faster": "sriov"}]}')
    done = calibrate("--choices", str(wrong), "--output", str(wrong), status=3)
    assert "oss1 (own host): takes SR-IOV; WRONG: virtio is faster" in done.stdout
    assert "oss2 (other host): takes SR-IOV; SR-IOV is the faster one" in done.stdout
    assert read_choices(wrong) == {PAIR: Leg.VIRTIO}, "the next switch is right"


@pytest.mark.usefixtures("nothing_left")
def test_a_dry_run_prints_the_lab_and_what_runs_in_it() -> None:
    first, *others = calibrate("--dry-run").stdout.splitlines()
    assert " lab net --shaped -- " in first and first.endswith("--dry-run")
    assert sum(" iperf3 --json --client " in line for line in others) == 12
    forced = [line for line in others if " route apply --links " in line]
    assert len(forced) == 4, "two nodes, two legs"
