"""The crates of vas-shuffled can be brought along: `cargo vendor`, a build without a network."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed"),
]


def test_the_daemon_builds_from_vendored_crates_alone(tmp_path: Path) -> None:
    source = tmp_path / "shuffled"
    shutil.copytree(REPOSITORY / "shuffled", source, ignore=shutil.ignore_patterns("target"))
    manifest = ("--manifest-path", str(source / "Cargo.toml"))
    told = run(["cargo", "vendor", "--locked", *manifest, str(source / "vendor")]).stdout
    (source / ".cargo").mkdir()
    (source / ".cargo/config.toml").write_text(told)
    # An empty home has no crate from elsewhere.
    home = os.environ | {"CARGO_HOME": str(tmp_path / "home")}
    run(["cargo", "check", "--locked", "--offline", *manifest], env=home, cwd=source)
