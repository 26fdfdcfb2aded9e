"""What `vas test` runs."""

from __future__ import annotations

import pytest

from vas_core.cli import run_command
from vas_tests.checks import REPOSITORY, other_hadoops


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run_command(["test", "--list", *options]) == 0
    return capsys.readouterr().out


def test_the_plugins_compile_against_every_hadoop_that_the_readme_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert f"| Hadoop {', '.join(other_hadoops())} |" in (REPOSITORY / "README.md").read_text()
    assert {"3.3.6", "3.4.2"} <= set(other_hadoops())
    commands = listed(capsys)
    for version in other_hadoops():
        assert f"-Dhadoop.version={version} " in commands
    assert "hadoop.version" not in listed(capsys, "--fast")
