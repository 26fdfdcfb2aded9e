"""The commit that a release is built from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vas_core.errors import BadInput, NotHere
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_release.source import ReleaseSource, one_version, versions

_WITH_A_VERSION = (
    *("pyproject.toml", "CITATION.cff", "CHANGELOG.md"),
    "ansible/galaxy.yml",
    *("shuffled/Cargo.toml", "shuffled/verbs/Cargo.toml"),
)
_WHO = ("-c", "user.name=ann", "-c", "user.email=ann@hpc.example")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of one commit: the files that have the project's version."""
    poms = [str(p.relative_to(REPOSITORY)) for p in REPOSITORY.glob("yarn-plugins/**/pom.xml")]
    clone = tmp_path / "clone"
    for name in (*_WITH_A_VERSION, *poms):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, clone / name)
    run(["git", "init", "-q", clone])
    run(["git", "-C", clone, "add", "."])
    run(["git", "-C", clone, *_WHO, "commit", "-qm", "one"])
    return clone


def test_the_project_has_one_version() -> None:
    found = versions(REPOSITORY)
    assert len(found) >= 15
    assert one_version(found) == found["pyproject.toml"]


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("CHANGELOG.md", "## ", "## 9.9.9, not released yet\n## "),
        ("CITATION.cff", "version: 0", "version: 9"),
        ("ansible/galaxy.yml", "version: 0", "version: 9"),
        ("yarn-plugins/shuffle/pom.xml", "<version>0.1.0<", "<version>9.0<"),
        ("shuffled/verbs/Cargo.toml", 'version = "0', 'version = "9'),
    ],
)
@pytest.mark.machine
def test_a_file_with_another_version_is_named(clone: Path, place: str, old: str, new: str) -> None:
    text = (clone / place).read_text()
    assert old in text
    (clone / place).write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=rf"^{place}: has version 9.*; pyproject.toml has 0"):
        ReleaseSource.of(clone, uncommitted=True)


@pytest.mark.machine
def test_a_release_is_of_a_commit(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    source = ReleaseSource.of(clone)
    commit, time = run(["git", "-C", clone, "log", "-1", "--format=%H %ct"]).stdout.split()
    assert (source.commit, source.epoch) == (commit, int(time))
    assert source.environment()["SOURCE_DATE_EPOCH"] == time
    (clone / "new file").touch()
    with pytest.raises(BadInput, match=r"new file.*is not committed"):
        ReleaseSource.of(clone)
    assert Path("new file") not in ReleaseSource.of(clone, uncommitted=True).tracked()


@pytest.mark.machine
def test_the_time_may_be_given(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "12")
    assert ReleaseSource.of(clone).epoch == 12
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(BadInput, match=r"^\$SOURCE_DATE_EPOCH: 'today' is not a number"):
        ReleaseSource.of(clone)


def test_without_git_there_is_no_commit(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="is not a git clone"):
        ReleaseSource.of(tmp_path)
