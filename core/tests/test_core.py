"""The shared pieces: sizes, subprocesses, atomic files, the journal, the root."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from vas_core.errors import BadInput, NotHere, VasError
from vas_core.files import make_directories, write_atomically
from vas_core.journal import Journal
from vas_core.process import CommandFailed, run
from vas_core.root import Root
from vas_core.settings import read_yaml
from vas_core.sizes import format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("64k", 65536), ("64M", 1 << 26), ("1.5GiB", 3 << 29), ("4 MB", 4 << 20), ("7B", 7)],
)
def test_parse_size(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "-1", "M", "1.3", "64X", "1e3", "0x10", "9" * 5000, "9" * 400 + ".5", "\u0663"]
)
def test_parse_size_refuses(text: str) -> None:
    with pytest.raises(BadInput, match="is not a size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 50))
def test_formatted_sizes_read_back_within_rounding(size: int) -> None:
    value, unit = format_size(size).split()
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}
    assert abs(float(value) * units[unit] - size) <= 0.051 * units[unit]


@pytest.mark.machine
def test_run_gives_output_and_status() -> None:
    done = run(
        [sys.executable, "-c", "import sys; print(input()); sys.exit(3)"], stdin="x", check=False
    )
    assert (done.stdout, done.status) == ("x\n", 3)


@pytest.mark.machine
def test_run_error_shows_the_exact_command_and_stderr() -> None:
    script = "import sys; print('boom', file=sys.stderr); sys.exit(1)"
    with pytest.raises(CommandFailed, match=r"(?s)exit status 1: .* -c 'import.*stderr: boom"):
        run([sys.executable, "-c", script])


@pytest.mark.machine
def test_run_stops_at_its_timeout() -> None:
    with pytest.raises(CommandFailed, match=r"no end after 0\.2 s"):
        run(["sleep", "30"], timeout_seconds=0.2)


@pytest.mark.machine
def test_run_without_the_program() -> None:
    with pytest.raises(NotHere, match="'no-such-program' is not installed"):
        run(["no-such-program"])


def test_write_atomically_replaces_or_leaves_alone(tmp_path: Path) -> None:
    target = tmp_path / "f"
    write_atomically(target, "old", mode=0o600)
    with pytest.raises(UnicodeEncodeError):
        write_atomically(target, "\udc80")
    assert target.read_text() == "old"
    assert target.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_write_atomically_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "none" / "f"
    with pytest.raises(FileNotFoundError) as refused:
        write_atomically(target, "new")
    assert refused.value.filename == str(target)


def test_root_reads_only_below_itself(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "value").write_text("7\n")
    root = Root(tmp_path)
    assert root.read("sys/value") == "7"
    assert root.read("sys/none") is None
    with pytest.raises(ValueError, match="relative"):
        root.path("/sys/value")


def test_journal_keeps_the_first_value_over_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "state" / "journal.json"
    with Journal.open(path) as journal:
        journal.remember({"rp_filter": "1"})
        journal.remember({"rp_filter": "2"})
        journal.confirm(["rp_filter"])
        journal.remember({"route": None})
    with Journal.open(path) as reopened:
        entries = [(e.target, e.original, e.confirmed) for e in reopened.pending_rollback()]
        assert entries == [("route", None, False), ("rp_filter", "1", True)]
        reopened.forget("route")
        reopened.forget("rp_filter")
        assert reopened.pending_rollback() == []


def test_journal_is_durable_before_the_change(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    with Journal.open(path) as journal:
        journal.remember({"mtu": "1500"})
        assert '"original": "1500"' in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600


def test_journal_is_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    lock = path.with_name("journal.json.lock")
    with Journal.open(path), lock.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with lock.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_journal_confirms_only_what_it_remembers(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.json") as journal, pytest.raises(KeyError):
        journal.confirm(["mtu"])


@pytest.mark.parametrize("text", ['{"version": 1, "entries": [{"target"', '{"version": 2}'])
def test_journal_refuses_a_file_that_it_cannot_read_whole(text: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    path.write_text(text)
    with pytest.raises(VasError, match="journal of original values is damaged"), Journal.open(path):
        pass


class Rounds(BaseModel):
    """Settings of one key."""

    rounds: int = 5


def test_a_key_of_settings_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("rounds: 1\nrounds: 2\n")
    with pytest.raises(BadInput, match=rf"{file}: line 2: the key rounds is given twice; remove"):
        read_yaml(file, Rounds)
    file.write_text("rounds: 2\n")
    assert read_yaml(file, Rounds).rounds == 2


@pytest.mark.usefixtures("strict_umask")
def test_directories_have_their_mode_whatever_the_umask(tmp_path: Path) -> None:
    make_directories(tmp_path / "a/b", mode=0o711)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o755, 0o711]
    make_directories(tmp_path / "a")
    (tmp_path / "a/b").chmod(0o700)
    make_directories(tmp_path / "a/b")
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_directories(tmp_path / "file")
