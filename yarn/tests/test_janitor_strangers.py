"""`vas shuffle gc` against users who want it to remove what they may not, or nothing at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fake_rm import FakeRm
from janitor_command import gc
from map_output import JOB, publish

from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.predictable_names import JANITOR, JANITOR_MEMORY, QUARANTINE_PREFIX
from vas_yarn.shuffle.janitor.store import JobDirectory, Quarantined, StagingStore

BOB, CAROL = 4001, 4003
OLD = f"{QUARANTINE_PREFIX}.{JOB}.1000"
STORE = "vas_yarn.shuffle.janitor.store"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    root = tmp_path / "staging"
    root.mkdir()
    return root


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    return {row["where"]: row for row in json.loads(capsys.readouterr().out)}


def of(uid: int, root: Path, mode: int = 0o755) -> Path:
    """Gives a tree to a user."""
    for path in (root, *root.rglob("*")):
        os.chown(path, uid, uid)
    root.chmod(mode)
    return root


def carols(place: Path) -> Path:
    """Her results, in a directory that her group may write."""
    data = place / "run1" / "data"
    data.parent.mkdir(parents=True)
    data.write_text("carols")
    of(CAROL, place, 0o2775)
    return data


def quarantine(staging: Path, user: str) -> Path:
    made = staging / user / ".staging" / OLD
    made.mkdir(parents=True)
    (made / "own").write_text("x")
    return made


def remove_chain(top: Path) -> None:
    """Removes directories d in d, of which pytest's own cleaning would get a RecursionError."""
    os.chdir(top)
    depth = 0
    while os.path.isdir("d"):
        os.chdir("d")
        depth += 1
    for _ in range(depth):
        os.chdir("..")
        os.rmdir("d")


@as_root
def test_S5_what_another_owns_below_a_quarantine_stays(
    rm: FakeRm, staging: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = quarantine(staging, "bob")
    of(BOB, staging / "bob")
    carols(tmp_path / "results")
    (tmp_path / "results").rename(made / "results")
    assert gc(rm, staging, "--json") == 0
    assert (made / "results" / "run1" / "data").read_text() == "carols"
    assert not (made / "own").exists()
    row = rows(capsys)[f"bob/.staging/{OLD}"]
    assert (row["verdict"], row["done"]) == ("refused", False)
    assert f"results in it belongs to uid {CAROL}" in str(row["why"])


@as_root
def test_S5_another_owners_directory_deep_below_is_not_entered(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = quarantine(staging, "bob")
    (made / "a" / "b").mkdir(parents=True)
    (made / "c").mkdir()
    of(BOB, staging / "bob")
    data = carols(made / "a" / "b" / "results")
    assert gc(rm, staging, "--json") == 0
    assert data.exists()
    assert not (made / "c").exists()
    assert "a/b/results in it belongs" in str(rows(capsys)[f"bob/.staging/{OLD}"]["why"])


@as_root
@pytest.mark.parametrize("uid", [BOB, CAROL])
def test_S5_what_took_the_place_of_a_judged_quarantine_stays(staging: Path, uid: int) -> None:
    made = quarantine(staging, "bob")
    of(BOB, staging / "bob")
    store = StagingStore(staging)
    (found,) = store.entries()
    assert isinstance(found, Quarantined)
    made.rename(staging / "elsewhere")
    data = carols(made)
    of(uid, made)
    with pytest.raises(VasError, match="another directory took its place"):
        store.delete(found)
    assert data.exists()
    store.close()


def test_L1_what_is_said_of_another_application_is_a_doubt(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = staging / "bob" / ".staging" / JOB
    publish(job, 0, [100])
    job.parent.chmod(0o700)
    other = {"id": "application_1_0002", "state": "FINISHED", "finishedTime": 1}
    rm.apps[JOB.replace("job", "application")] = other
    assert gc(rm, staging, "--json") == 1
    assert rows(capsys)[f"bob/.staging/{JOB}"]["verdict"] == "doubt"
    assert job.exists()


def test_S5_what_takes_the_place_during_the_rename_goes_back(
    staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = staging / "bob" / ".staging" / JOB
    publish(job, 0, [100])
    job.parent.chmod(0o700)
    store = StagingStore(staging)
    (found,) = store.entries()
    assert isinstance(found, JobDirectory)
    rename = os.rename

    def late(source: str, target: str, **places: int) -> None:
        monkeypatch.setattr(os, "rename", rename)
        job.rename(staging / "elsewhere")
        job.mkdir()
        (job / "own").write_text("x")
        os.rename(source, target, **places)

    monkeypatch.setattr(os, "rename", late)
    with pytest.raises(VasError, match="another directory took its place"):
        store.move(found, 1)
    assert (job / "own").exists()
    store.close()


@as_root
def test_S5_what_takes_a_directorys_place_while_it_is_opened_stays(
    staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = quarantine(staging, "bob")
    (made / "results").mkdir()
    of(BOB, staging / "bob")
    carols(staging / "hers")
    store = StagingStore(staging)
    (found,) = store.entries()
    assert isinstance(found, Quarantined)
    opened = os.open

    def late(path: str, flags: int, **places: int) -> int:
        if path == "results":
            monkeypatch.setattr(os, "open", opened)
            (made / "results").rmdir()
            (staging / "hers").rename(made / "results")
        return opened(path, flags, **places)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(VasError, match=f"results in it belongs to uid {CAROL}"):
        store.delete(found)
    assert (made / "results" / "run1" / "data").read_text() == "carols"
    store.close()


def test_S5_what_lies_on_another_file_system_stays(
    staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where something is mounted below a job's directory."""
    made = quarantine(staging, "bob")
    (made / "results").mkdir()
    store = StagingStore(staging)
    (found,) = store.entries()
    assert isinstance(found, Quarantined)
    stat = os.stat

    def mounted(path: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        there = stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        device = there.st_dev + (path == "results")
        return os.stat_result((*there[:2], device, *there[3:]))

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", mounted)
        with pytest.raises(VasError, match="results in it lies on another file system"):
            store.delete(found)
    assert (made / "results").is_dir()
    assert not (made / "own").exists()
    store.close()


@as_root
def test_S5_a_staging_directory_that_others_may_write_is_refused(
    rm: FakeRm, staging: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bob renames Carol's directory in one that her group may write, and moves that one here."""
    carols(tmp_path / "results")
    (tmp_path / "results" / "run1").rename(tmp_path / "results" / OLD)
    (staging / "bob").mkdir()
    of(BOB, staging / "bob")
    (tmp_path / "results").rename(staging / "bob" / ".staging")
    assert gc(rm, staging, "--json") == 0
    assert (staging / "bob" / ".staging" / OLD / "data").read_text() == "carols"
    assert "others than its owner may write" in str(rows(capsys)["bob/.staging"]["why"])


@pytest.mark.unhurried
def test_L1_a_deep_directory_keeps_no_others_from_being_removed(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep, other = quarantine(staging, "aa"), quarantine(staging, "zz")
    here = Path.cwd()
    try:
        os.chdir(deep)
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
        assert gc(rm, staging, "--json") == 0
        assert not other.exists()
        assert deep.exists()
        row = rows(capsys)[f"aa/.staging/{OLD}"]
        assert row["verdict"] == "refused"
        assert "deeper than 256" in str(row["why"])
    finally:
        remove_chain(deep)
        os.chdir(here)


def test_L1_whatever_one_directory_does_the_others_go(
    rm: FakeRm, staging: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    strange, other = quarantine(staging, "aa"), quarantine(staging, "zz")
    delete = StagingStore.delete

    def failing(store: StagingStore, found: Quarantined) -> None:
        if found.user == "aa":
            raise RecursionError("nobody thought of it")
        delete(store, found)

    monkeypatch.setattr(StagingStore, "delete", failing)
    assert gc(rm, staging, "--json") == 1
    assert strange.exists()
    assert not other.exists()
    assert rows(capsys)[f"aa/.staging/{OLD}"]["failed"] is True


@pytest.mark.parametrize(("more", "is_over"), [((), False), (("--assume-over", "30d"), True)])
def test_L1_attempts_are_looked_at_only_where_their_age_counts(
    more: tuple[str, ...],
    is_over: bool,
    rm: FakeRm,
    staging: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publish(staging / "ann" / ".staging" / JOB, 0, [1])
    if is_over:
        rm.over(JOB, hours_ago=1)
    looked: list[object] = []
    scandir = os.scandir

    def seen(at: int) -> object:
        looked.append(at)
        return scandir(at)

    monkeypatch.setattr(os, "scandir", seen)
    assert gc(rm, staging, "--json", *more) == 0
    assert looked == []
    rm.apps.clear()
    (staging / JANITOR.of() / JANITOR_MEMORY.of()).unlink(missing_ok=True)
    assert gc(rm, staging, "--json", "--assume-over", "30d") == 0
    assert looked


def test_L1_too_many_attempts_are_refused(
    rm: FakeRm, staging: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = staging / "ann" / ".staging" / JOB
    for task in range(3):
        publish(job, task, [1])
    for path in (job, *job.rglob("*")):
        os.utime(path, (1, 1))
    monkeypatch.setattr(f"{STORE}.MOST_ATTEMPTS", 2, raising=False)
    assert gc(rm, staging, "--json", "--assume-over", "30d") == 0
    assert job.exists()
    assert rows(capsys)[f"ann/.staging/{JOB}"]["verdict"] == "refused"
    monkeypatch.setattr(f"{STORE}.MOST_ATTEMPTS", 3, raising=False)
    assert gc(rm, staging, "--json", "--assume-over", "30d") == 0
    assert not job.exists()


def test_L1_one_users_many_directories_wait_for_other_runs(
    rm: FakeRm, staging: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [f"job_1700000000000_{number:04d}" for number in range(1, 6)]
    for job in jobs:
        publish(staging / "aa" / ".staging" / job, 0, [1])
        rm.over(job, hours_ago=1)
    assert gc(rm, staging, "--json") == 0
    capsys.readouterr()
    other = quarantine(staging, "zz")
    monkeypatch.setattr(f"{STORE}.MOST_DIRECTORIES", 2, raising=False)
    rm.asked.clear()
    assert gc(rm, staging, "--json") == 0
    assert not other.exists()
    assert len(rm.asked) == 2
    row = rows(capsys)["aa/.staging"]
    assert row["verdict"] == "refused"
    assert "holds 3 more" in str(row["why"])
    memory = json.loads((staging / JANITOR.of() / JANITOR_MEMORY.of()).read_text())
    assert sorted(memory) == jobs, "what waits is not forgotten"


def test_L1_what_was_removed_is_told_when_the_resourcemanager_steps_down_later(
    rm: FakeRm, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = JOB.replace("_0001", "_0002")
    for user, job in (("aa", JOB), ("zz", later)):
        publish(staging / user / ".staging" / job, 0, [1])
        rm.over(job, hours_ago=100)
    rm.apps[later.replace("job", "application")] = 500
    rm.infos_left = 1
    assert gc(rm, staging, "--json") == 1
    assert not (staging / "aa" / ".staging" / JOB).exists()
    assert (staging / "zz" / ".staging" / later).exists()
    assert list(rows(capsys)) == [f"aa/.staging/{JOB}"]


@pytest.mark.parametrize("command", ["ls", "inspect", "verify"])
def test_D3_an_id_that_several_users_have_is_refused(
    command: str, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for user in ("ann", "eve"):
        publish(staging / user / ".staging" / JOB, 0, [1])
    assert run_command(["shuffle", command, JOB, "--staging", str(staging)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    for user in ("ann", "eve"):
        assert str(staging / user / ".staging" / JOB) in said.err
    assert "give the directory instead of the id" in said.err
    directory = str(staging / "ann" / ".staging" / JOB)
    assert run_command(["shuffle", command, directory]) in (0, 3)
