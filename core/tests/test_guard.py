"""The guard of the root conftest: a unit test that starts a program or touches /sys fails."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.root import Root


@pytest.mark.parametrize(
    "act",
    [
        lambda: run(["true"]),
        lambda: subprocess.Popen("true", shell=True),
        lambda: os.system("true"),
        lambda: Root().read("sys/fs/lustre/version"),
        lambda: Path("/proc/sys/kernel/ostype").read_bytes(),
        lambda: os.open(b"/proc/../sys/kernel/mm", os.O_RDONLY),
        lambda: list(Root().glob("sys/*")),
    ],
)
def test_an_unmarked_test_is_stopped(act: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="mark it `machine`"):
        act()


@pytest.mark.machine
def test_a_marked_test_is_not() -> None:
    assert run(["true"]).status == 0
    assert Root().read("proc/sys/kernel/ostype") == "Linux"


def test_a_captured_tree_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys/x").write_text("1\n")
    assert Root(tmp_path).read("sys/x") == "1"
