"""`vas shuffle gc` over real directories, with a ResourceManager that answers over HTTP."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from fake_rm import FakeRm, running
from janitor_command import gc
from map_output import JOB, publish

from vas_core.errors import VasError
from vas_core.predictable_names import JANITOR, JANITOR_MEMORY, QUARANTINE_PREFIX
from vas_yarn.shuffle.janitor.store import JobDirectory, StagingStore

OTHER = JOB.replace("_0001", "_0002")


def job_dir(staging: Path, job: str = JOB, user: str = "ann") -> Path:
    return staging / user / ".staging" / job


def quarantined(staging: Path) -> list[Path]:
    return list((staging / "ann" / ".staging").glob(f"{QUARANTINE_PREFIX}.job_*"))


def tree(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_what_is_over_for_long_is_quarantined_then_deleted(rm: FakeRm, staging: Path) -> None:
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging) == 0
    assert not job_dir(staging).exists()
    (kept,) = quarantined(staging)
    assert (kept / "shuffle").is_dir()
    rm.now += 23 * 3600
    assert gc(rm, staging) == 0
    assert kept.exists()
    rm.now += 3600
    assert gc(rm, staging) == 0
    assert not kept.exists()


@pytest.mark.parametrize(
    "name", ["job_99999999999999999999_1", JOB.replace("job_", "job_0"), "job_1_١", "job_1_00001"]
)
def test_a_name_that_no_job_has_keeps_no_others_from_being_removed(
    name: str, rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (staging / "eve" / ".staging" / name / "shuffle").mkdir(parents=True)
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging, "--json") == 0
    assert not job_dir(staging).exists()
    rows = {row["where"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows[f"eve/.staging/{name}"]["verdict"] == "refused"
    assert (staging / "eve" / ".staging" / name / "shuffle").is_dir()


@pytest.mark.parametrize("state", ["NEW", "ACCEPTED", "RUNNING", "SUBMITTED", "somethingElse"])
def test_what_lives_stays(state: str, rm: FakeRm, staging: Path) -> None:
    before = tree(staging)
    rm.live(JOB, state)
    assert gc(rm, staging, "--grace", "0s") == 0
    assert tree(staging) == before


def test_what_is_over_for_a_short_time_stays(rm: FakeRm, staging: Path) -> None:
    rm.over(JOB, hours_ago=23.9, state="KILLED")
    assert gc(rm, staging) == 0
    assert job_dir(staging).exists()


def test_what_the_resourcemanager_never_knew_stays(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(staging)
    assert gc(rm, staging, "--grace", "0s", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["verdict"] == "unknown"
    assert tree(staging) == before


def test_what_was_seen_to_be_over_goes_when_it_is_forgotten(rm: FakeRm, staging: Path) -> None:
    rm.over(JOB, hours_ago=1)
    assert gc(rm, staging) == 0
    rm.apps.clear()
    rm.now += 24 * 3600
    assert gc(rm, staging) == 0
    assert not job_dir(staging).exists()


STRANGE = OTHER.replace("job", "application")


@pytest.mark.parametrize(
    "answer",
    [
        500,
        401,
        {"id": "another"},
        {"id": STRANGE},
        {"id": STRANGE, "state": "FINISHED", "finishedTime": "x"},
    ],
)
def test_L1_a_strange_application_keeps_its_own_directory_only(
    answer: dict[str, object] | int,
    rm: FakeRm,
    staging: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    publish(job_dir(staging, OTHER), 0, [100])
    rm.over(JOB, hours_ago=100)
    rm.apps[STRANGE] = answer
    assert gc(rm, staging, "--json") == 1
    said = capsys.readouterr()
    assert {row["where"].rpartition("/")[2]: row["verdict"] for row in json.loads(said.out)} == {
        JOB: "quarantine",
        OTHER: "doubt",
    }
    assert not job_dir(staging).exists()
    assert job_dir(staging, OTHER).exists()
    assert f"ann/.staging/{OTHER}" in said.err
    assert said.err.count("\n") == 1


def test_L1_an_application_that_hides_its_times_is_over_since_it_was_seen(
    rm: FakeRm, staging: Path
) -> None:
    publish(job_dir(staging, OTHER), 0, [100])
    rm.over(JOB, hours_ago=100)
    rm.over(OTHER, hours_ago=rm.now / 3600)
    assert gc(rm, staging) == 0
    assert not job_dir(staging).exists()
    assert job_dir(staging, OTHER).exists()
    rm.now += 23 * 3600
    assert gc(rm, staging) == 0
    assert job_dir(staging, OTHER).exists()
    rm.now += 3600
    assert gc(rm, staging) == 0
    assert not job_dir(staging, OTHER).exists()


@pytest.mark.parametrize(
    "doubt",
    [
        lambda rm: setattr(rm, "ha_state", "STANDBY"),
        lambda rm: setattr(rm, "url", "http://127.0.0.1:9"),
        lambda rm: setattr(rm, "infos_left", 1),
    ],
)
def test_a_doubt_about_the_resourcemanager_touches_nothing_at_all(
    doubt: object, rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(doubt)
    publish(job_dir(staging, OTHER), 0, [100])
    rm.over(JOB, hours_ago=100)
    rm.apps[STRANGE] = 500
    doubt(rm)
    before = tree(staging)
    assert gc(rm, staging) == 1
    assert tree(staging) == before
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(("days", "stays"), [(29, True), (31, False)])
def test_L3_what_yarn_forgot_goes_by_an_explicit_age(
    rm: FakeRm, staging: Path, days: int, stays: bool
) -> None:
    rm.now = int(time.time())  # both clocks have to say so
    changed = rm.now - days * 86400
    for path in (job_dir(staging), *job_dir(staging).rglob("*")):
        os.utime(path, (changed, changed), follow_symlinks=False)
    assert gc(rm, staging) == 0
    assert job_dir(staging).exists()
    assert gc(rm, staging, "--assume-over", "30d") == 0
    assert job_dir(staging).exists() is stays
    assert len(quarantined(staging)) == (not stays)


def test_L3_one_new_attempt_is_a_change(rm: FakeRm, staging: Path) -> None:
    rm.now = int(time.time())
    old = rm.now - 40 * 86400
    for path in (job_dir(staging), *job_dir(staging).rglob("*")):
        os.utime(path, (old, old))
    (attempt,) = (job_dir(staging) / "shuffle").iterdir()
    os.utime(attempt, (rm.now - 86400, rm.now - 86400))
    assert gc(rm, staging, "--assume-over", "30d") == 0
    assert job_dir(staging).exists()


def test_L3_one_new_map_of_a_shuffle_of_spark_is_a_change(rm: FakeRm, staging: Path) -> None:
    rm.now = int(time.time())
    application = JOB.replace("job_", "application_") + "-18446744073709551615"
    shuffle = job_dir(staging) / "shuffle" / application / "shuffle_0"
    shuffle.mkdir(parents=True)
    (shuffle.parent.parent / f"{application}1").symlink_to(shuffle)
    old = rm.now - 40 * 86400
    for path in (job_dir(staging), *job_dir(staging).rglob("*")):
        os.utime(path, (old, old), follow_symlinks=False)
    os.utime(shuffle, (rm.now - 86400, rm.now - 86400))
    assert gc(rm, staging, "--assume-over", "30d") == 0
    assert job_dir(staging).exists()


def test_L3_an_age_that_a_job_may_run_is_refused(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gc(rm, staging, "--assume-over", "6d") == 2
    assert "--assume-over: is less than 7d" in capsys.readouterr().err


def test_the_active_one_of_two_is_asked(rm: FakeRm, staging: Path) -> None:
    with running() as standby:
        standby.ha_state = "STANDBY"
        rm.over(JOB, hours_ago=25)
        assert gc(standby, staging, "--resourcemanager", rm.url) == 0
        assert standby.asked == []
    assert not job_dir(staging).exists()


def test_a_dry_run_touches_nothing(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(staging)
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging, "--dry-run", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["verdict"], row["done"]) == ("quarantine", False)
    assert tree(staging) == before


def test_jobs_without_our_map_output_are_not_ours(rm: FakeRm, staging: Path) -> None:
    job_dir(staging, OTHER).mkdir()
    rm.over(JOB, hours_ago=25)
    rm.over(OTHER, hours_ago=25)
    assert gc(rm, staging) == 0
    assert job_dir(staging, OTHER).exists()
    assert rm.asked == [JOB.replace("job", "application")]


def test_links_lead_nowhere(
    rm: FakeRm, staging: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = publish(tmp_path / "elsewhere" / ".staging" / OTHER, 0, [100])
    (staging / "bob").symlink_to(tmp_path / "elsewhere")
    job_dir(staging, OTHER).symlink_to(outside.parents[1])
    third = job_dir(staging, OTHER.replace("_0002", "_0003"))
    third.mkdir()
    (third / "shuffle").symlink_to(outside.parent)
    (job_dir(staging) / "shuffle" / "link").symlink_to(outside)
    for job in (JOB, OTHER, third.name):
        rm.over(job, hours_ago=100)
    assert gc(rm, staging) == 0
    assert "bob/.staging: is a link or no directory; it stays" in capsys.readouterr().err
    rm.now += 25 * 3600
    assert gc(rm, staging) == 0
    assert quarantined(staging) == []
    assert outside.exists()
    assert (third / "shuffle").is_symlink()


def test_another_owners_directory_stays(rm: FakeRm, staging: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    os.chown(job_dir(staging), 12345, -1)
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging) == 0
    assert job_dir(staging).exists()


def test_a_directory_put_in_its_place_meanwhile_goes_back(staging: Path) -> None:
    store = StagingStore(staging)
    (found,) = store.entries()
    assert isinstance(found, JobDirectory)
    job_dir(staging).rename(job_dir(staging, OTHER))
    job_dir(staging).mkdir()
    with pytest.raises(VasError, match="another directory took its place"):
        store.move(found, 1)
    assert job_dir(staging).exists()
    store.close()


def test_N4_a_memory_that_others_may_write_is_not_used(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = staging / JANITOR.of()
    planted.mkdir()
    planted.chmod(0o777)
    (planted / JANITOR_MEMORY.of()).write_text(json.dumps({JOB: 1}))
    rm.over(OTHER, hours_ago=25)
    publish(job_dir(staging, OTHER), 0, [100])
    assert gc(rm, staging) == 0
    assert job_dir(staging).exists()
    assert not job_dir(staging, OTHER).exists()
    assert "not a directory of this user alone" in capsys.readouterr().err
    assert json.loads((planted / JANITOR_MEMORY.of()).read_text()) == {JOB: 1}
    (own,) = staging.glob(f"{JANITOR.of()}.*")
    assert OTHER in json.loads((own / JANITOR_MEMORY.of()).read_text())


def test_a_rename_between_projects_is_not_needed(
    rm: FakeRm, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lustre answers EXDEV where the directories have different projects."""
    rename = os.rename

    def of_projects(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if not os.path.samestat(os.fstat(src_dir_fd), os.fstat(dst_dir_fd)):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", of_projects)
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging) == 0
    assert not job_dir(staging).exists()
    rm.now += 25 * 3600
    assert gc(rm, staging) == 0
    assert quarantined(staging) == []


def test_what_only_looks_like_quarantine_stays(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = staging.with_name("outside")
    outside.mkdir()
    link = job_dir(staging).with_name(f"{QUARANTINE_PREFIX}.{OTHER}.0")
    link.symlink_to(outside)
    rm.live(JOB, "RUNNING")
    assert gc(rm, staging) == 0
    assert outside.exists()
    assert link.is_symlink()
    assert "is a link or no directory; it stays" in capsys.readouterr().err


def test_what_a_node_emptied_goes_too(rm: FakeRm, staging: Path) -> None:
    """A NodeManager empties `shuffle` and leaves it, as the mark of a job of ours."""
    shutil.rmtree(job_dir(staging) / "shuffle")
    (job_dir(staging) / "shuffle").mkdir()
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging) == 0
    assert not job_dir(staging).exists()


def test_a_staging_root_that_is_a_link_is_refused(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = staging.with_name("link")
    link.symlink_to(staging)
    assert gc(rm, link) == 2
    assert "--staging" in capsys.readouterr().err
