"""`vas spark` and `vas submit --spark` on a machine without a site's map."""

from __future__ import annotations

import fcntl
import shlex
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.predictable_names import LAB_LOCK


@pytest.mark.parametrize("command", [["spark", "config"], ["submit", "--spark", "my.py", "a b"]])
def test_the_line_for_a_lab_that_is_up(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "spark/bin").mkdir(parents=True)
    (tmp_path / "spark/bin/spark-submit").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "none.yaml"))
    monkeypatch.setenv("VAS_LABS", str(tmp_path))
    for lab in ("an-ended-one", "demo"):
        (tmp_path / lab).mkdir()
        (tmp_path / lab / LAB_LOCK.of()).touch()
    with (tmp_path / "demo" / LAB_LOCK.of()).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run_command(command) == 2
    said = capsys.readouterr().err
    again = shlex.join(["vas", *command])
    assert f"in the lab demo: `vas lab shell --name demo -- {again}`" in said
    assert "an-ended-one" not in said
