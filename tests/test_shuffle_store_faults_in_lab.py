"""Damage and errors of the store, on the lab's real YARN, with our shuffle.

Each ends in an undisturbed job's output or in a clear failure, and leaves nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.faults import (
    MANIFEST,
    MAPS,
    MOF,
    PATIENCE_SECONDS,
    Point,
    attempt,
    digests,
    faulty_job,
    finished,
    maps,
    names,
)

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]


def flip(path: Path) -> None:
    """Another bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def cut(path: Path) -> None:
    """The second half is gone."""
    os.truncate(path, path.stat().st_size // 2)


def test_damage_that_validation_sees_costs_the_damaged_maps_alone(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    # Reducers begin when the last map is done.
    last = Point("last-map", attempt("m_000003_0"), "renamed", MANIFEST)
    conf = {"vas.shuffle.layout": "packed"}
    with faulty_job(lab, "damaged", last, conf=conf) as job:
        job.held(last.name)
        others = names("m", 0) - {"m_000003_0"}
        finished(job, others)
        flip(job.output_of("m_000000_0") / "manifest")
        (job.output_of("m_000001_0") / "packed.mof").unlink()
        cut(job.output_of("m_000002_0") / "packed.mof")
        # No damage: clocks of hosts may be wrong.
        os.utime(job.output_of("m_000003_0") / "packed.mof", (1, 1))
        os.utime(job.output_of("m_000003_0") / "manifest", (4e9, 4e9))
        job.release(last.name)
        assert job.succeeded().total_maps == MAPS + 3
        assert set(job.failed()) == others
    assert digests(lab, "damaged") == undisturbed


def test_damage_found_in_the_merge_fails_the_reducer_and_its_retry_asks_for_the_map(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    """Reducer 0 meets a flipped bit, 1 a deleted file, 2 one that was cut."""
    points = (
        Point("flip", attempt("r_000000_0"), "read", "m_000002_0/00000.mof$"),
        # The first opening and two readings are validation's.
        Point("delete", attempt("r_000001_0"), "open", "m_000003_0/00001.mof$", nth=2),
        Point("cut", attempt("r_000002_0"), "read", "m_000001_0/00002.mof$", nth=3),
    )
    conf = {"vas.shuffle.layout": "per-reducer"}
    with faulty_job(lab, "damaged-later", *points, conf=conf) as job:
        for point in points:
            job.held(point.name)
        flip(job.output_of("m_000002_0") / "00000.mof")
        (job.output_of("m_000003_0") / "00001.mof").unlink()
        cut(job.output_of("m_000001_0") / "00002.mof")
        job.release(*(point.name for point in points))
        assert job.succeeded().total_maps == MAPS + 3
        failed = job.failed()
        assert {name for name in failed if name[0] == "m"} == names("m", 0) - {"m_000000_0"}
        assert_told(failed, "r_000000_0", "m_000002_0/00000.mof", "wrong checksum")
        assert_told(failed, "r_000001_0", "m_000003_0/00001.mof", "No such file")
        assert_told(failed, "r_000002_0", "m_000001_0/00002.mof", "the file ends")
        assert set(failed) <= names("m", 0) | names("r", 0)
    assert digests(lab, "damaged-later") == undisturbed


def assert_told(errors: Mapping[str, str], attempt: str, *words: str) -> None:
    """One line of an attempt's error has all that, path and cause."""
    lines = errors.get(attempt, "").splitlines()
    assert any(all(word in line for word in words) for line in lines), errors.get(attempt)


def test_errors_of_the_file_system_fail_attempts_and_cost_no_finished_map(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    """First attempts meet an error each, or a read without an end; all reads are short."""
    points = (
        Point("short", "YarnChild", "read", "/shuffle/", "short"),
        Point("slow", "YarnChild", "read", "m_000000_1/", "slow:200"),
        Point("full", attempt("m_000000_0"), "write", MOF, "ENOSPC"),
        Point("quota", attempt("m_000001_0"), "close", MOF, "EDQUOT"),
        Point("sync", attempt("m_000002_0"), "sync", "/manifest.tmp$", "EIO"),
        Point("rename", attempt("m_000003_0"), "rename", MANIFEST, "EIO"),
        Point("read", attempt("r_000000_0"), "read", MOF, "EIO", nth=2),
        Point("stale", attempt("r_000001_0"), "open", MANIFEST, "ESTALE"),
        Point("hung-read", attempt("r_000002_0"), "read", MOF),
        Point("hung-open", attempt("r_000003_0"), "open", MANIFEST),
    )
    with faulty_job(lab, "errors", *points, conf={"vas.shuffle.read-timeout": "20s"}) as job:
        assert job.succeeded().total_maps == 2 * MAPS
        failed = job.failed()
        assert set(failed) == names("m", 0) | names("r", 0)
        assert_told(failed, "m_000000_0", ".mof", "No space left on device")
        assert_told(failed, "m_000001_0", ".mof", "Disk quota exceeded")
        assert_told(failed, "m_000002_0", "/manifest.tmp", "Input/output error")
        assert_told(failed, "m_000003_0", "/manifest", "Input/output error")
        assert_told(failed, "r_000000_0", ".mof", "Input/output error")
        assert_told(failed, "r_000001_0", "/manifest", "Stale file handle")
        assert_told(failed, "r_000002_0", ".mof", "vas.shuffle.read-timeout")
        assert_told(failed, "r_000003_0", "/manifest", "vas.shuffle.read-timeout")
    assert digests(lab, "errors") == undisturbed


@pytest.mark.nightly
def test_reads_slower_than_the_tasks_time_out_are_waited_for(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    # A JVM that starts on a busy machine is silent for seconds too.
    point = Point("slow", "_r_", "read", r"m_000001_0/.*\.mof$", "slow:12000")
    conf = {"mapreduce.task.timeout": "10000", "mapreduce.task.timeout.check-interval-ms": "500"}
    with faulty_job(lab, "slow", point, conf=conf) as job:
        assert job.succeeded().total_maps == MAPS
        assert job.failed() == {}
    assert digests(lab, "slow") == undisturbed


@pytest.mark.nightly
def test_one_output_that_nobody_can_read_is_made_again(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    point = Point("unreadable", "_r_", "read", r"m_000001_0/.*\.mof$", "EIO")
    with faulty_job(lab, "unreadable", point) as job:
        assert job.succeeded().total_maps == MAPS + 1
        assert set(job.failed()) == {"m_000001_0"}
    assert digests(lab, "unreadable") == undisturbed


@pytest.mark.parametrize(
    ("task", "call", "error", "text"),
    [("_m_", "write", "EDQUOT", "Disk quota exceeded"), ("_r_", "read", "EIO", "Input/output")],
    ids=["written", "read"],
)
def test_an_error_that_stays_fails_the_job_with_path_and_cause(
    lab: Lab, task: str, call: str, error: str, text: str
) -> None:
    conf = {"mapreduce.map.maxattempts": "2", "mapreduce.reduce.maxattempts": "2"}
    point = Point("always", task, call, MOF, error)
    with faulty_job(lab, f"always-{error}", point, conf=conf) as job:
        job.end()
        assert isinstance(job.failure, VasError)
        assert any("/shuffle/" in line and ".mof" in line and text in line for line in job.output)
        if task == "_r_":
            poll(lambda: maps(job), lambda m: m == names("m", 0), PATIENCE_SECONDS, "the history")
