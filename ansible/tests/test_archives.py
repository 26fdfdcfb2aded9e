"""The archives that the controller hands to nodes."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from vas_ansible import archives
from vas_core.cli import run_command


def test_one_archive_serves_nodes_with_different_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gather(directory: Path, python: str) -> None:
        for name in ("vas-1-py3-none-any", f"core-1-cp{python.replace('.', '')}"):
            (directory / f"{name}.whl").touch()

    monkeypatch.setattr(archives, "gather_wheels", gather)
    file = tmp_path / "wheels.tar"
    given = ["--python", "3.11", "--python", "3.13"]
    assert run_command(["provision", "wheels", str(file), *given]) == 0
    with tarfile.open(file) as tar:
        names = tar.getnames()
    assert names == [
        f"wheels/{name}.whl" for name in ("core-1-cp311", "core-1-cp313", "vas-1-py3-none-any")
    ]


@pytest.mark.parametrize("python", ["3.9", "3", "python3.11"])
def test_a_python_that_vas_does_not_run_on_is_refused(
    python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["provision", "wheels", str(tmp_path / "x.tar"), "--python", python]) != 0
    assert f"{python}: is not a supported Python" in capsys.readouterr().err
