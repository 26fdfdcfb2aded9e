"""Attacks on `vas shuffle gc` by its command: clocks that jump, kills amid its work, a full disk.

Each case says the right answer, which was written down before it was run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_rm import FakeRm
from janitor_command import gc
from map_output import JOB, publish

from vas_core.predictable_names import JANITOR_MEMORY, QUARANTINE_PREFIX

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

_YEARS = 10 * 365 * 86400
LIVE, OVER, UNKNOWN = (JOB.replace("_0001", f"_000{n}") for n in (1, 2, 3))


@pytest.fixture
def staging(tmp_path: Path, rm: FakeRm) -> Path:
    """A job that lives, one that ended two hours ago, one that nobody knows; times are now."""
    root = tmp_path / "staging"
    rm.now = int(time.time())
    for job in (LIVE, OVER, UNKNOWN):
        publish(job_dir(root, job), 0, [100])
    rm.live(LIVE)
    rm.over(OVER, hours_ago=2)
    return root


def job_dir(staging: Path, job: str) -> Path:
    return staging / "ann" / ".staging" / job


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize("years", [_YEARS, -_YEARS], ids=["forward", "back"])
def test_a_clock_that_jumps_takes_nothing_that_lives(years: int, rm: FakeRm, staging: Path) -> None:
    """The ResourceManager's clock is ten years off in one answer, and right again afterwards.

    Right: the job that lives, and the one that nobody knows and that changed a moment ago, keep
    every byte; the one that is over is gone some day.
    """
    live, unknown = files(job_dir(staging, LIVE)), files(job_dir(staging, UNKNOWN))
    for jump in (0, years, 0, years, 0):
        rm.now += jump
        assert gc(rm, staging, "--assume-over", "30d") in (0, 1)
        rm.now -= jump
        assert files(job_dir(staging, LIVE)) == live
        assert files(job_dir(staging, UNKNOWN)) == unknown
    for _ in range(3):
        rm.now += 25 * 3600
        assert gc(rm, staging) == 0
    assert files(job_dir(staging, LIVE)) == live
    assert not job_dir(staging, OVER).exists()
    assert not list(staging.rglob(f"{QUARANTINE_PREFIX}*"))


def test_a_janitor_that_is_killed_amid_its_work_is_finished_by_the_next(
    rm: FakeRm, staging: Path
) -> None:
    """SIGKILL at twelve moments, while hundreds of jobs go.

    Right: what lives keeps every byte all the time, and afterwards nothing of the others is left.
    """
    for number in range(1000, 1300):
        job = JOB.replace("_0001", f"_{number}")
        for task in range(3):
            publish(job_dir(staging, job), task, [100, 100])
        rm.over(job, hours_ago=2)
    live = files(job_dir(staging, LIVE))
    words = ["shuffle", "gc", "--staging", str(staging), "--resourcemanager", rm.url]
    killed = 0
    for moment in range(12):
        victim = subprocess.Popen(
            [sys.executable, "-m", "vas_core", *words, "--grace", "0s"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        _wait_until_it_works(victim, staging, moment)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        killed += victim.returncode == -signal.SIGKILL
        assert files(job_dir(staging, LIVE)) == live
    assert killed >= 3, "it was done before it was killed"
    for _ in range(3):
        assert gc(rm, staging, "--grace", "0s") == 0
    assert files(job_dir(staging, LIVE)) == live
    left = {path.name for path in (staging / "ann" / ".staging").iterdir()}
    assert left == {LIVE, UNKNOWN}


def _wait_until_it_works(janitor: subprocess.Popen[bytes], staging: Path, moment: int) -> None:
    """Until so many names below a user's staging directory are new or gone, or it has ended."""

    def look() -> set[str]:
        return set(os.listdir(staging / "ann" / ".staging"))

    before, end = look(), time.monotonic() + 60
    while janitor.poll() is None and time.monotonic() < end:
        if len(look() ^ before) > 15 * moment:
            return


_FULL = """
mount -t tmpfs -o size=256k,nr_inodes=200 tmpfs "$1"
cp -a "$2/." "$1/"
dd if=/dev/zero of="$1/fill" bs=1k 2>/dev/null || true
"$0" -m vas_core shuffle gc --staging "$1" --resourcemanager "$3" --json >"$2.full" 2>"$2.said" \
  && echo 0 || echo $?
(cd "$1" && find . -name "job_*" | sort)
rm "$1/fill"
"$0" -m vas_core shuffle gc --staging "$1" --resourcemanager "$3" --json >/dev/null && echo 0
(cd "$1" && find . -name "job_*" | sort)
"""


def test_a_full_disk_loses_nothing_and_is_told_in_one_line(rm: FakeRm, staging: Path) -> None:
    """The file system of the staging directory has no byte left.

    Right: one line that says so, status 1, all directories are where they were; with room again
    the next run does its work.
    """
    own = ["unshare", "--user", "--map-root-user", "--mount", "--"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces")
    rm.over(OVER, hours_ago=25)
    mounted = staging.parent / "mounted"
    mounted.mkdir()
    argv = [*own, "sh", "-uc", _FULL, sys.executable, str(mounted), str(staging), rm.url]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    jobs = [f"./ann/.staging/{job}" for job in (LIVE, OVER, UNKNOWN)]
    said = Path(f"{staging}.said").read_text()
    lines = done.stdout.splitlines()
    assert lines[0] == "1", done
    assert lines[1:4] == jobs, done.stdout
    assert said.count("\n") == 1 and "No space left" in said, said
    assert JANITOR_MEMORY.of() in said or str(mounted) in said, said
    assert lines[4] == "0" and f"./ann/.staging/{OVER}" not in lines[5:], done
    assert {f"./ann/.staging/{job}" for job in (LIVE, UNKNOWN)} <= set(lines[5:])
    assert json.loads(Path(f"{staging}.full").read_text() or "[]") == []
