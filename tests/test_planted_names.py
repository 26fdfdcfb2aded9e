"""A link that another user puts at a name that VAS uses is refused, and its target stays.

The names come from `vas_core.predictable_names`; each has here what opens it.
"""

from __future__ import annotations

import ast
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from vas_affinity.apply.immovable import read_immovable
from vas_bench.site import claim
from vas_core import predictable_names as names
from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.journal import Journal
from vas_core.predictable_names import ALL, PredictableName
from vas_core.repository import REPOSITORY
from vas_core.safe_open import Planted
from vas_lab import state
from vas_layout import ingest
from vas_layout.command import put as put_module
from vas_layout.planning import plan_stripes
from vas_layout.store import XattrStore
from vas_yarn.cds.archive import CDS_CLASSES
from vas_yarn.shuffle.janitor.store import RefusedEntry, StagingStore

STORE = XattrStore("user.lustre.lov")
VICTIM = b"ssh-ed25519 AAAA ann\n"
Act = Callable[[], None]


class Interrupted(BaseException):
    """Stops a put as a signal would."""


def _put(directory: Path) -> tuple[Path, Act]:
    """A put that was interrupted, and the way to resume it by the command."""
    source, final = directory.parent / "source", directory / "final"
    source.write_bytes(b"x" * 3 * 65536)

    def stop(_: int) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        ingest.put(source, final, plan_stripes(3 * 65536, 65536, 4), store=STORE, progress=stop)

    def again() -> None:
        words = ["layout", "put", str(source), str(final), "--split", "64K", "--osts", "4"]
        assert run_command(words) == 1

    return final, again


def _put_journal(directory: Path) -> tuple[Path, Act]:
    _, again = _put(directory)
    return next(directory.glob(".vas-put-*.journal")), again


def _put_data(directory: Path) -> tuple[Path, Act]:
    _, again = _put(directory)
    return next(p for p in directory.glob(".vas-put-*") if p.suffix != ".journal"), again


def _refused_by_janitor(directory: Path, where: str) -> None:
    """The janitor goes on, and names what it leaves alone."""
    store = StagingStore(directory)
    try:
        refused = [one for one in store.entries() if isinstance(one, RefusedEntry)]
        assert [one.where for one in refused] == [where]
        store.remember({"job_1_0001": 1})
        assert store.remembered() == {"job_1_0001": 1}
        raise Planted(refused[0].why, where=str(directory / where))
    finally:
        store.close()


def _janitor(directory: Path) -> tuple[Path, Act]:
    return directory / names.JANITOR.of(), partial(
        _refused_by_janitor, directory, names.JANITOR.of()
    )


def _quarantined(directory: Path) -> tuple[Path, Act]:
    name = names.QUARANTINED.of(job="job_1700000000000_0001", moved_ms=0)
    (directory / "ann/.staging").mkdir(parents=True)
    where = f"ann/.staging/{name}"
    return directory / where, partial(_refused_by_janitor, directory, where)


def _memory(directory: Path) -> tuple[Path, Act]:
    own = directory / names.JANITOR.of()
    own.mkdir(0o700)
    return own / names.JANITOR_MEMORY.of(), lambda: _with_store(directory, "remembered")


def _memory_new(directory: Path) -> tuple[Path, Act]:
    own = directory / names.JANITOR.of()
    own.mkdir(0o700)
    return own / names.JANITOR_MEMORY_NEW.of(), lambda: _with_store(directory, "remember", {})


def _with_store(directory: Path, call: str, *arguments: object) -> None:
    store = StagingStore(directory)
    try:
        getattr(store, call)(*arguments)
    finally:
        store.close()


def _open_journal(path: Path) -> None:
    with Journal.open(path):
        pass


def _mds(directory: Path) -> tuple[Path, Act]:
    def start() -> None:
        words = ["-m", "vas_lab.lustre.mds", "--state", str(directory), "--mount", str(directory)]
        options = ["--fsname", "x", "--osts", "0", "--ost-size", "1048576"]
        done = subprocess.run(
            [sys.executable, *words, *options], check=False, capture_output=True, timeout=30
        )
        assert done.returncode != 0
        raise Planted(done.stderr.decode().strip())

    return directory / names.MDS_LOCK.of(), start


def _take_lab(directory: Path) -> None:
    with state.hold(directory):
        pass


def _cds(directory: Path) -> tuple[Path, Act]:
    from vas_yarn.cds import archive

    path = directory / CDS_CLASSES.of()
    return path, lambda: archive.write_class_list(path, "x\n")


OPENERS: dict[PredictableName, Callable[[Path], tuple[Path, Act]]] = {
    names.PUT_JOURNAL: _put_journal,
    names.PUT_DATA: _put_data,
    names.JANITOR: _janitor,
    names.QUARANTINED: _quarantined,
    names.JANITOR_MEMORY: _memory,
    names.JANITOR_MEMORY_NEW: _memory_new,
    names.BENCH_MARK: lambda d: (d / names.BENCH_MARK.of(), lambda: _left_over(d)),
    names.JOURNAL_LOCK: lambda d: (
        d / names.JOURNAL_LOCK.of(name="j.json"),
        lambda: _open_journal(d / "j.json"),
    ),
    names.HOST_JOURNAL: lambda d: (
        d / names.HOST_JOURNAL.of(),
        lambda: _open_journal(d / names.HOST_JOURNAL.of()),
    ),
    names.IMMOVABLE: lambda d: (d / names.IMMOVABLE.of(), lambda: _immovable(d)),
    names.CDS_CLASSES: _cds,
    names.LAB_LOCK: lambda d: (d / names.LAB_LOCK.of(), lambda: _take_lab(d)),
    names.MDS_LOCK: _mds,
}


def _left_over(directory: Path) -> None:
    claim.is_left_over(directory)


def _immovable(directory: Path) -> None:
    read_immovable(directory)


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _dangling_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim.with_name("not-there"))


def _hard_link(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


def _fifo(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path, victim: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's address is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _directory(path: Path, victim: Path) -> None:
    path.mkdir(0o777)
    path.chmod(0o777)


def _device(path: Path, victim: Path) -> None:
    if os.geteuid():
        pytest.skip("only root makes devices")
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero


def _strangers_file(path: Path, victim: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    path.write_bytes(b"")
    os.chown(path, 12345, 12345)


PLANTS = {
    "symbolic link": _link,
    "dangling link": _dangling_link,
    "hard link": _hard_link,
    "FIFO": _fifo,
    "socket": _socket,
    "directory": _directory,
    "device": _device,
    "file of another": _strangers_file,
}


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "victim"
    path.write_bytes(VICTIM)
    yield path
    assert path.read_bytes() == VICTIM
    assert not path.with_name("not-there").exists()


# What a put of ours leaves that dies between link(2) and unlink(2): see the test of its own.
OWN_LEFTOVER = (names.PUT_DATA, "hard link")
ATTACKS = [(name, plant) for name in ALL for plant in PLANTS if (name, plant) != OWN_LEFTOVER]


def test_D3_every_predictable_name_has_an_attack() -> None:
    assert set(OPENERS) == set(ALL)
    assert len({name.form for name in ALL}) == len(ALL)


@pytest.mark.machine
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("name", "plant"), ATTACKS, ids=[f"{name.what}-{plant}" for name, plant in ATTACKS]
)
def test_D3_what_is_planted_is_refused_by_name_and_left(
    name: PredictableName,
    plant: str,
    tmp_path: Path,
    victim: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(put_module, "put", partial(ingest.put, store=STORE))
    directory = tmp_path / "shared"
    directory.mkdir()
    path, act = OPENERS[name](directory)
    path.unlink(missing_ok=True)
    PLANTS[plant](path, victim)
    if name is names.QUARANTINED and plant == "directory":
        (path / "kept").mkdir()
        os.chown(path, 12345, -1)
    before = path.lstat()
    try:
        act()
        said = capsys.readouterr().err
    except VasError as refused:
        assert refused.exit_status != 0
        said = f"{refused}\n"
    assert said.count("\n") == 1, said
    assert path.name in said, said
    assert os.path.samestat(path.lstat(), before)


@pytest.mark.machine
def test_D3_a_second_name_of_a_file_is_taken_away_and_the_file_is_left(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(put_module, "put", partial(ingest.put, store=STORE))
    directory = tmp_path / "shared"
    directory.mkdir()
    path, _ = _put_data(directory)
    path.unlink()
    _hard_link(path, victim)
    words = ["layout", "put", str(tmp_path / "source"), str(directory / "final")]
    assert run_command([*words, "--split", "64K", "--osts", "4"]) == 0
    assert victim.stat().st_nlink == 1
    assert (directory / "final").read_bytes() == (tmp_path / "source").read_bytes()


def _made_by_hand(source: str) -> list[str]:
    """Returns the literals of a module that are, or begin, a name which others can foresee."""
    words = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    wholes = {name.form for name in ALL if "{" not in name.form and name is not names.LAB_LOCK}
    begins = tuple({name.form.partition("{")[0] for name in ALL} - {""})
    hidden = tuple(begin for begin in begins if begin.startswith(".vas-"))
    texts = [word for word in words if isinstance(word, str) and " " not in word]
    # What is made first and then renamed has a name that nobody can foresee (mkstemp, mkdtemp).
    unfinished = (".new", ".tmp")
    # With an ending that nobody can foresee (mkdtemp) `.vas-bench-` is another name.
    return [
        t
        for t in texts
        if t in wholes or t.endswith(unfinished) or (t.startswith(hidden) and t != ".vas-bench-")
    ]


@pytest.mark.unhurried
def test_D3_no_module_makes_such_a_name_itself() -> None:
    made_elsewhere = [
        f"{file.relative_to(REPOSITORY)}: {name}"
        for file in REPOSITORY.glob("*/vas_*/**/*.py")
        if file.name != "predictable_names.py" and "vas_tests" not in file.parts
        for name in _made_by_hand(file.read_text())
    ]
    assert made_elsewhere == []
    assert set(_made_by_hand('f"{x}.vas-put-{key}"\nf".vas-put-{key}"')) == {".vas-put-"}
    assert _made_by_hand('f".{path.name}.new"') == [".new"]
