"""D3: what is planted between the look at a name and its open is refused by the open."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vas_core.safe_open import Planted, is_locked, open_own


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _fifo(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def _second_name(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR])
@pytest.mark.parametrize(("plant", "what"), [(_link, "link"), (_fifo, "FIFO"), (_second_name, "2")])
def test_D3_what_is_planted_between_look_and_open_is_refused(
    flags: int,
    plant: Callable[[Path, Path], None],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    victim, path, opened = tmp_path / "victim", tmp_path / "name", os.open
    victim.write_text("hers")
    path.write_text("ours")

    def late(name: str, *arguments: int, **places: int | None) -> int:
        monkeypatch.setattr(os, "open", opened)
        path.unlink()
        plant(path, victim)
        return opened(name, *arguments, **places)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(Planted, match=what):
        open_own(path, flags)
    assert victim.read_text() == "hers"


def test_a_lock_is_held_as_long_as_its_file_is_open(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    assert not is_locked(lock)
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert is_locked(lock)
    assert not is_locked(lock)
    with lock.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert not is_locked(lock), "who only looks is not the holder"
    with pytest.raises(FileNotFoundError):
        is_locked(tmp_path / "none")
