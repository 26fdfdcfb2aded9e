"""The command-line frame: help by room, one message per error, exit statuses."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from vas_core import cli
from vas_core.doctor import examine, packages
from vas_core.errors import BadInput, FoundDifferent, NotHere, VasError
from vas_core.root import Root


def test_help_lists_every_command_by_room_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["--help"]) == 0
    out = capsys.readouterr().out
    assert "core/:" in out
    assert "cluster/:" in out
    for name in ("doctor", "completion", "cluster check", "cluster show", "test"):
        line = next(line for line in out.splitlines() if line.strip().startswith(name + " "))
        assert len(line.strip()) > len(name) + 10


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (VasError("broke", where="/x", hint="mend it"), 1, "vas: /x: broke; mend it\n"),
        (BadInput("wrong"), 2, "vas: wrong\n"),
        (FoundDifferent("drift", where="eth0"), 3, "vas: eth0: drift\n"),
        (NotHere("no kvm"), 77, "vas: no kvm\n"),
        (click.Abort(), 130, "vas: interrupted\n"),
        (KeyboardInterrupt(), 130, "vas: interrupted\n"),
    ],
)
def test_errors_become_statuses(
    error: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(cli.vas, "get_command", lambda _ctx, _name: broken)
    assert cli.run_command(["broken"]) == status
    assert capsys.readouterr().err.lstrip() == message


def test_unknown_command_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["cluster", "chekc"]) == 2
    assert "chekc" in capsys.readouterr().err


def test_table_shows_control_characters_instead_of_sending_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cli.print_table(("NAME", "SIZE"), [("a\x1b[31m\nb", 7), ("[bold]c", 12)])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["NAME          SIZE", "a\\x1b[31m\\nb     7", "[bold]c         12"]


def test_doctor_reads_the_machine_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   1048576 kB\n")
    findings = {finding.name: finding for finding in examine(Root(tmp_path), tmp_path)}
    assert findings["memory"].found == "1 GiB available"
    assert not findings["memory"].ok
    assert not findings["Lustre client"].ok
    assert all(finding.fix for finding in findings.values() if not finding.ok)
    assert {package.probe for package in packages()} < set(findings)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["completion", shell]) == 0
    assert "_VAS_COMPLETE=" in capsys.readouterr().out


def test_the_readmes_package_table_is_packages_tsv() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for package in packages():
        assert f"| {package.why} | `{package.debian}` | `{package.rocky}` |" in readme
