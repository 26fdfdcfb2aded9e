"""The Vagrantfile, as Vagrant reads it. Skipped without Vagrant, which nothing else here needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from vas_core.process import Completed, run

REPOSITORY = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("vagrant") is None, reason="no vagrant (package vagrant)"),
]


def vagrant(home: Path, *words: str, **more: str) -> Completed:
    env = {**os.environ, "VAGRANT_HOME": str(home), "VAGRANT_DOTFILE_PATH": str(home / "dot")}
    env |= {"VAGRANT_CHECKPOINT_DISABLE": "1", **more}
    return run(["vagrant", *words], env=env, cwd=REPOSITORY, check=False)


def test_it_is_valid(tmp_path: Path) -> None:
    done = vagrant(tmp_path, "validate")
    assert done.status == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("VAS_OSS", "none", "VAS_OSS=none is not a number"),
        ("VAS_OSS", "0", "VAS_OSS=0 is not a number from 1"),
        ("VAS_OSS", "81", "more than 80"),
        ("VAS_SUBNET", "10.0.0.0/8", "not an IPv4 network of 24 bits"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, name: str, value: str, said: str) -> None:
    done = vagrant(tmp_path, "validate", **{name: value})
    assert done.status != 0
    assert said in done.stderr


def test_a_network_that_is_in_use_is_refused(tmp_path: Path) -> None:
    done = vagrant(tmp_path, "up", "--no-provision", VAS_SUBNET="127.0.0.0/24", VAS_DRIVER="qemu")
    assert done.status != 0
    assert "127.0.0.0/24 is in use here" in done.stderr
