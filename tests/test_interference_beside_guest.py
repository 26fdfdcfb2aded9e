"""`vas bench interference --guest-image`: a guest in QEMU beside a lab, and what is left of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from vas_bench.interference.scope import PATTERN_NAMES
from vas_core.polling import poll
from vas_core.root import Root
from vas_lab.procfs import processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(5400),
    pytest.mark.skipif(shutil.which("fio") is None, reason="no fio"),
    pytest.mark.skipif(os.geteuid() != 0, reason="cgroups are root's"),
]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-interference-guest"
GUEST = LABS / "interference" / "guest"
COMMAND = [sys.executable, "-m", "vas_core", "bench", "interference", "--json"]
SMALL = ["--rounds", "1", "--warm-up", "0", "--seconds", "2", "--size", "64M"]
CGROUPS = Path("/sys/fs/cgroup")


def session(image: Path) -> subprocess.Popen[str]:
    LABS.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [*COMMAND, *SMALL, "--guest-image", str(image)],
        env={**os.environ, "VAS_LABS": str(LABS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _words(pid: int) -> str:
    with suppress(OSError):  # it ended meanwhile
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    return ""


def left() -> list[object]:
    """Files, control groups and processes of a guest."""
    run_by = [process.pid for process in processes(Root()) if str(GUEST) in _words(process.pid)]
    return [*LABS.glob("*/guest"), *CGROUPS.glob("**/vas-interference*"), *run_by]


def test_a_guest_is_one_more_arm(guest_image: Path) -> None:
    out, said = session(guest_image).communicate()
    found = json.loads(out or "null")
    assert found, said
    turns = {turn["arm"]: turn for turn in found["turns"]}
    assert set(turns) == {"alone", "host", "guest", "emulated"}
    assert set(turns["emulated"]["bytes_per_second"]) == set(PATTERN_NAMES)
    assert min(turns["emulated"]["job_seconds"]) > 0
    compared = {(it["arm"], it["base"]) for it in found["comparisons"]}
    assert ("emulated", "alone") in compared and len(compared) == 4
    assert found["qemu_guest"] == {"accelerator": "tcg"}
    assert left() == []


def test_one_that_is_interrupted_leaves_nothing(guest_image: Path) -> None:
    with session(guest_image) as running:
        boots = GUEST / "console"
        poll(
            lambda: boots.exists() or running.poll() is not None,
            bool,
            600,
            "the guest to be booted",
        )
        assert running.poll() is None, running.stderr
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert left() == []
