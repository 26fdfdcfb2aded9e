"""A whole release, with Maven and Rust, built in two clones: every byte is the same."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(3600)]
_NAMES = ("one", "a longer name")


def build(directory: Path) -> Path:
    """Makes the release of this clone's commit in a clone of its own; returns its directory."""
    clone = directory / "clone"
    run(["git", "clone", "-q", REPOSITORY, clone])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VAS_")}
    environment = {name: value for name, value in kept.items() if name != "PYTHONPATH"}
    run(["./vas", "--yes", "release", "--out", directory / "out"], cwd=clone, env=environment)
    return directory / "out"


def test_two_clones_give_the_same_bytes(tmp_path: Path) -> None:
    releases = []
    for name in _NAMES:
        (tmp_path / name).mkdir()
        releases.append(build(tmp_path / name))
    sums = [(release / "SHA256SUMS").read_text().splitlines() for release in releases]
    assert sums[0] == sums[1]
    for release in releases:
        run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=release)
    (daemon,) = releases[1].glob("vas-shuffled-*.tar.gz")
    with tarfile.open(daemon) as tar:
        (program,) = (member for member in tar if Path(member.name).name == "vas-shuffled")
        opened = tar.extractfile(program)
        assert opened
        content = opened.read()
    assert b"/vas/shuffled/" in content or b"/cargo/registry/" in content
    assert str(tmp_path).encode() not in content
    assert os.fsencode(Path.home() / ".cargo") not in content
