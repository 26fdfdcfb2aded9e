"""The command-line frame: help by room, one message per error, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from vas_core import cli
from vas_core.errors import BadInput, FoundDifferent, NotHere, VasError
from vas_core.process import run


def test_help_lists_every_command_by_room_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["--help"]) == 0
    out = capsys.readouterr().out
    assert "Describe a site:" in out
    assert "This clone and this machine:" in out
    for name in ("build", "doctor", "completion", "cluster check", "cluster show", "test"):
        line = next(line for line in out.splitlines() if line.strip().startswith(name + " "))
        assert len(line.strip()) > len(name) + 10


def fails(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Makes every command end with the error."""

    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(cli.vas, "get_command", lambda _ctx, _name: broken)


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
    fails(monkeypatch, error)
    assert cli.run_command(["broken"]) == status
    assert capsys.readouterr().err.lstrip() == message


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("clustr", "no such command 'clustr'; did you mean cluster?"),
        ("cluster chekc", "cluster: no such command 'chekc'; did you mean check?"),
        ("zzz", "no such command 'zzz'; see `vas --help`"),
        ("doctor --jsno", "doctor: no such option '--jsno'; did you mean --json?"),
        ("completion", "completion: missing argument '{bash|fish|zsh}'. Choose from: bash, fish, "
                       "zsh; see `vas completion --help`"),
        ("completion tcsh", "completion: invalid value for '{bash|fish|zsh}': 'tcsh' is not one of "
                            "'bash', 'fish', 'zsh'; see `vas completion --help`"),
        ("lab up --hosts 99",
         "lab up: invalid value for '--hosts': 99 is not between 1 and 64; "
         "see `vas lab up --help`"),
    ],
)  # fmt: skip
def test_bad_usage_is_one_line_with_a_suggestion(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command(words.split()) == 2
    assert capsys.readouterr() == ("", f"vas: {line}\n")


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (click.FloatRange(0, 1, min_open=True, max_open=True), "more than 0 and less than 1"),
        (click.FloatRange(0, 1, min_open=True), "more than 0 and at most 1"),
        (click.IntRange(8), "at least 8"),
        (click.IntRange(max=6), "at most 6"),
        (click.FloatRange(8, min_open=True), "more than 8"),
        (click.IntRange(-2, 6), "between -2 and 6"),
    ],
)
def test_a_range_is_said_in_words(
    of: click.ParamType, said: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    command = click.Command("x", params=[click.Option(["--n"], type=of)])
    monkeypatch.setattr(cli.vas, "get_command", lambda *_: command)
    assert cli.run_command(["x", "--n", "7"]) == 2
    shown = "7.0" if isinstance(of, click.FloatRange) else "7"
    assert f"'--n': {shown} is not {said}; see" in capsys.readouterr().err


def test_yes_is_taken_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["--yes", "--version"]) == 0
    assert cli.run_command(["--yes", "completion", "bash"]) == 0
    assert cli.run_command(["--help"]) == 0
    assert "--yes" in capsys.readouterr().out


@pytest.mark.machine
def test_verbose_prints_each_program_that_is_started(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    def starts() -> None:
        run(["true", "a b"])

    monkeypatch.setattr(cli.vas, "get_command", lambda _ctx, _name: starts)
    assert cli.run_command(["-v", "starts"]) == 0
    assert capsys.readouterr().err == "+ true 'a b'\n"
    assert cli.run_command(["starts"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("called", ["./vas", "/opt/vas/vas", "vas"])
def test_hints_name_the_program_as_it_was_called(
    called: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAS_PROGRAM", called)
    assert cli.run_command(["cluster", "--jsno"]) == 2
    cli.note("vas: the lab in /home/vas lives; run `vas lab down` or `./vas lab up`")
    assert cli.run_command(["cluster", "show", "--help"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        f"vas: cluster: no such option '--jsno'; see `{called} cluster --help`",
        f"vas: the lab in /home/vas lives; run `{called} lab down` or `{called} lab up`",
    ]
    assert out.startswith(f"Usage: {called} cluster show")
    assert f"Examples: {called} cluster show\n" in out
    assert f" {called} cluster show --hadoop > vas-site.xml\n" in out


def test_a_message_shows_control_characters_and_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = VasError("no\x1b[2J", where="/a\nb\udcff", hint="mend it")
    fails(monkeypatch, error)
    assert cli.run_command(["broken"]) == 1
    assert capsys.readouterr().err == "vas: /a\\nb\\xff: no\\x1b[2J; mend it\n"
    cli.note("two\nlines\x07")
    assert capsys.readouterr().err == "two\nlines\\x07\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (NotADirectoryError(20, "Not a directory", "/a\nb"), "/a\\nb: Not a directory"),
        (PermissionError(13, "Permission denied", b"/b"), "/b: Permission denied"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (OSError("odd"), "odd"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    error: OSError,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fails(monkeypatch, error)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert cli.run_command(["broken"]) == 1
    assert capsys.readouterr().err == f"vas: {line}\n"


def test_who_is_not_root_is_told_to_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails(monkeypatch, PermissionError(13, "Permission denied", "/run/vas"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert cli.run_command(["broken"]) == 1
    assert capsys.readouterr().err == "vas: /run/vas: Permission denied; run it as root\n"


def test_a_directory_that_is_a_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "file/x"))
    assert cli.run_command(["lab", "status"]) != 0
    said = capsys.readouterr().err
    assert str(tmp_path / "file/x") in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("vas clu", {"cluster"}),
        ("vas cluster c", {"check"}),
        ("vas --y", {"--yes"}),
        ("vas completion ", {"bash", "fish", "zsh"}),
    ],
)
def test_completion_offers_commands_options_and_values(
    typed: str, offered: set[str], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("VAS_PROGRAM", "./vas")
    monkeypatch.setenv("_VAS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" ")) - 1))
    with pytest.raises(SystemExit):
        cli.run_command([])
    assert {line.split(",")[1] for line in capsys.readouterr().out.splitlines()} == offered


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command(["completion", shell]) == 0
    assert "_VAS_COMPLETE=" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["a\x9b31mred", "\x7f", "\u202egnp.exe", "\ud800", "name\udcff", "\U000e0041", "Größe"]
)
def test_json_has_nothing_that_a_terminal_obeys(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.print_json({text: [text]})
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert json.loads(out) == {text: [text]}
    assert ("Größe" in out) == (text == "Größe")
