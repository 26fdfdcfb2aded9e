"""`put` on a real file system, the layout in a `user.` attribute."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from vas_core.errors import BadInput, VasError
from vas_layout.ingest import Ingested, destination_of, put
from vas_layout.model import Plain
from vas_layout.planning import plan_stripes
from vas_layout.requests import stripes
from vas_layout.store import XattrStore, create_with_layout
from vas_layout.stripe_journal import StripeJournal

pytestmark = pytest.mark.usefixtures("usual_umask")
STORE = XattrStore("user.lustre.lov")
STRIPE = 65536


class Ingest:
    """A source of some stripes and a directory it goes to."""

    def __init__(self, directory: Path, size: int = 20 * STRIPE + 100) -> None:
        self.source = directory / "source"
        self.source.write_bytes(os.urandom(size))
        self.source.chmod(0o640)
        self.directory = directory / "lustre"
        self.directory.mkdir()
        self.final = self.directory / "final"

    def put(
        self,
        progress: Callable[[int], None] = lambda _: None,
        threads: int = 1,
        split: int = STRIPE,
    ) -> Ingested:
        plan = plan_stripes(self.source.stat().st_size, split, 4)
        return put(self.source, self.final, plan, threads=threads, store=STORE, progress=progress)

    def arrived(self) -> bool:
        """The whole file under its name, and nothing beside it."""
        whole = self.final.read_bytes() == self.source.read_bytes()
        return whole and os.listdir(self.directory) == ["final"]

    @property
    def hidden(self) -> Path:
        return next(p for p in self.directory.glob(".vas-put-*") if p.suffix != ".journal")


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path)


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but not the tester's own."""


def _after(count: int, act: Callable[[], None]) -> Callable[[int], None]:
    calls = iter(range(1_000_000))

    def progress(_: int) -> None:
        if next(calls) == count:
            act()

    return progress


def _interrupt() -> None:
    raise Interrupted


@pytest.mark.parametrize("size", [0, 1, STRIPE - 1, STRIPE, STRIPE + 1, 20 * STRIPE + 7])
def test_a_file_arrives_whole(tmp_path: Path, size: int) -> None:
    ingest, seen = Ingest(tmp_path, size), []
    done = ingest.put(seen.append, threads=4)
    assert ingest.arrived()
    assert sum(seen) == size
    assert ingest.final.stat().st_mode & 0o777 == 0o640
    assert STORE.read(ingest.final) == done.layout


def test_the_umask_counts_and_a_read_only_source_arrives(ingest: Ingest) -> None:
    ingest.source.chmod(0o446)
    before = os.umask(0o027)
    try:
        ingest.put()
    finally:
        assert os.umask(before) == 0o027
    assert ingest.final.stat().st_mode & 0o777 == 0o440


def test_setuid_and_setgid_stay_behind(ingest: Ingest) -> None:
    ingest.source.chmod(0o6755)
    ingest.put()
    assert stat.S_IMODE(ingest.final.stat().st_mode) == 0o755


def test_an_interrupted_put_leaves_no_half_file_and_goes_on(ingest: Ingest) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(7, _interrupt))
    assert not ingest.final.exists()
    seen: list[int] = []
    done = ingest.put(seen.append)
    # Seven were there; the thread may begin another before it is stopped.
    assert done.resumed_stripes >= 7
    assert sum(seen) == ingest.source.stat().st_size
    assert ingest.arrived()


def test_the_checksum_does_not_depend_on_interruptions(ingest: Ingest, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(3, _interrupt))
    resumed = ingest.put().sha256
    ingest.final.unlink()
    assert ingest.put(threads=3).sha256 == resumed


@pytest.mark.machine
def test_kill_9_leaves_what_the_next_put_needs(ingest: Ingest) -> None:
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from vas_layout.ingest import put
        from vas_layout.planning import plan_stripes
        from vas_layout.store import XattrStore
        source, final = map(Path, sys.argv[1:])
        done = 0
        def progress(size):
            global done
            done += size
            if done > 9 * 65536:
                os.kill(os.getpid(), signal.SIGKILL)
        plan = plan_stripes(source.stat().st_size, 65536, 4)
        put(source, final, plan, threads=1, store=XattrStore("user.lustre.lov"), progress=progress)
        """
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, ingest.source, ingest.final], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not ingest.final.exists()
    assert ingest.put().resumed_stripes == 9
    assert ingest.arrived()


def test_a_torn_journal_line_costs_one_stripe(ingest: Ingest) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(5, _interrupt))
    journal = next(ingest.directory.glob("*.journal"))
    journal.write_bytes(journal.read_bytes()[:-20])
    assert ingest.put().resumed_stripes == 4
    assert ingest.arrived()


def test_another_source_begins_anew(ingest: Ingest) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(5, _interrupt))
    ingest.source.write_bytes(os.urandom(21 * STRIPE))
    assert ingest.put().resumed_stripes == 0
    assert ingest.arrived()


def test_a_flipped_bit_is_found(ingest: Ingest) -> None:
    def flip() -> None:
        with ingest.hidden.open("r+b") as stream:
            stream.seek(5 * STRIPE + 11)
            byte = stream.read(1)
            stream.seek(5 * STRIPE + 11)
            stream.write(bytes([byte[0] ^ 1]))

    message = f"{ingest.final}: bytes 327680 to 393216 read back differently; run the same"
    with pytest.raises(VasError, match=message):
        ingest.put(_after(5, flip))
    assert not ingest.final.exists()
    ingest.put()
    assert ingest.arrived()


def test_a_source_that_changes_is_refused(ingest: Ingest) -> None:
    with pytest.raises(VasError, match="the source changed while it was copied"):
        ingest.put(_after(3, lambda: os.utime(ingest.source)))
    assert os.listdir(ingest.directory) == []


def test_a_source_that_shrinks_is_refused(ingest: Ingest) -> None:
    with pytest.raises(VasError, match="the file ends at 262144, before 327680"):
        ingest.put(_after(3, lambda: os.truncate(ingest.source, 4 * STRIPE)))
    assert not ingest.final.exists()


def test_a_name_taken_meanwhile_is_kept(ingest: Ingest) -> None:
    with pytest.raises(VasError, match="exists already; the finished copy is "):
        ingest.put(_after(3, lambda: ingest.final.touch()))
    assert ingest.final.read_bytes() == b""
    assert ingest.hidden.read_bytes() == ingest.source.read_bytes()


def test_a_full_file_system_keeps_what_arrived(ingest: Ingest) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6 * STRIPE, limits[1]))
    try:
        with pytest.raises(VasError, match=f"{ingest.final}: File too large; run the same"):
            ingest.put()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not ingest.final.exists()
    assert ingest.put().resumed_stripes == 6


def test_two_puts_to_one_name_do_not_mix(ingest: Ingest) -> None:
    def second() -> None:
        with pytest.raises(VasError, match="another put to the same name is running"):
            ingest.put()

    ingest.put(_after(3, second))
    assert ingest.arrived()


def test_a_plan_stopped_at_its_beginning_leaves_nothing_to_resume(
    ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(7, _interrupt))
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr("vas_layout.ingest.fsync_directory", lambda _: _interrupt())
        ingest.put(split=2 * STRIPE)
    done = ingest.put()
    assert done.resumed_stripes == 0
    assert isinstance(done.layout, Plain)
    assert done.layout.stripe_size == STRIPE
    assert ingest.arrived()


def test_stripes_of_another_hidden_file_do_not_count(ingest: Ingest) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(7, _interrupt))
    hidden, copy = ingest.hidden, ingest.directory.parent / "copy"
    create_with_layout(copy, stripes(STRIPE, 4), store=STORE)
    copy.replace(hidden)
    assert ingest.put().resumed_stripes == 0
    assert ingest.arrived()


def test_R1_a_put_that_died_with_both_names_shares_no_bytes_with_the_next(ingest: Ingest) -> None:
    with pytest.raises(Interrupted):
        ingest.put(_after(7, _interrupt))
    moved_on = ingest.directory.parent / "moved-on"
    moved_on.hardlink_to(ingest.hidden)
    assert ingest.put().resumed_stripes == 0
    assert ingest.arrived()
    assert not moved_on.samefile(ingest.final)


def test_without_locks_a_second_put_leaves_no_half_file(
    ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, "no locks")

    def second() -> None:
        with pytest.raises(Interrupted):
            ingest.put(_after(2, _interrupt), split=2 * STRIPE)

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(VasError, match="another put to the same name took over; run one at a time"):
        ingest.put(_after(10, second))
    assert not ingest.final.exists()
    # What the first put finished meanwhile is no part of the second's file.
    assert ingest.put(split=2 * STRIPE).resumed_stripes == 2
    assert ingest.arrived()


def test_a_journal_removed_before_it_is_locked_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flock = tmp_path / "journal", fcntl.flock
    owner = [StripeJournal(path)]

    def late(stream: TextIO, how: int) -> None:
        if owner:
            owner[0].remove()
            owner.pop().close()
        flock(stream, how)

    monkeypatch.setattr(fcntl, "flock", late)
    second = StripeJournal(path)
    with pytest.raises(VasError, match="another put to the same name is running"):
        StripeJournal(path)
    second.close()


def test_the_longest_name_a_file_may_have(ingest: Ingest) -> None:
    ingest.final = ingest.directory / ("x" * 255)
    ingest.put()
    assert ingest.final.read_bytes() == ingest.source.read_bytes()


def test_destinations(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.touch()
    (tmp_path / "d").mkdir()
    assert destination_of(source, f"{tmp_path}/d") == tmp_path / "d/source"
    assert destination_of(source, f"{tmp_path}/d/") == tmp_path / "d/source"
    assert destination_of(source, f"{tmp_path}/new") == tmp_path / "new"
    (tmp_path / "dangling").symlink_to("nowhere")
    for taken in (source, tmp_path / "dangling"):
        with pytest.raises(BadInput, match="exists already"):
            destination_of(source, str(taken))
    for nowhere in ("no/new", "new/"):
        with pytest.raises(BadInput, match="no such directory"):
            destination_of(source, f"{tmp_path}/{nowhere}")


def test_only_regular_files_are_put(tmp_path: Path) -> None:
    plan = plan_stripes(0, STRIPE, 1)
    with pytest.raises(BadInput, match="is not a regular file"):
        put(tmp_path, tmp_path / "f", plan, store=STORE)
    with pytest.raises(VasError, match="gone: no such file or directory"):
        put(tmp_path / "gone", tmp_path / "f", plan, store=STORE)
    assert os.listdir(tmp_path) == []


@pytest.mark.timeout(10)
def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BadInput, match="fifo: is not a regular file"):
        put(tmp_path / "fifo", tmp_path / "f", plan_stripes(0, STRIPE, 1), store=STORE)


def test_a_full_file_system_says_what_to_do_and_the_next_run_goes_on(tmp_path: Path) -> None:
    ingest = Ingest(tmp_path)

    def fill_up(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(VasError) as full:
        ingest.put(fill_up)
    assert str(full.value) == (
        f"{ingest.final}: no OST has room; free some space: `lfs df` shows where; "
        "then run the same command again to resume"
    )
    ingest.put()
    assert ingest.arrived()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_D3_a_strangers_journal_is_named_and_not_written(tmp_path: Path, mode: int) -> None:
    ingest = Ingest(tmp_path)
    ingest.source.chmod(0o644)
    ingest.directory.chmod(0o777)
    with pytest.raises(Interrupted):
        ingest.put(_after(5, _interrupt))
    journal = next(ingest.directory.glob("*.journal"))
    journal.chmod(mode)
    before = journal.read_bytes()
    for parent in (tmp_path, *tmp_path.parents):
        if parent.is_relative_to("/tmp") and parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        with pytest.raises(VasError) as refused:
            ingest.put()
    finally:
        os.seteuid(0)
    assert str(refused.value).startswith(f"{journal}: ")
    assert journal.read_bytes() == before
    assert not ingest.final.exists()
