"""The layout benchmark: its turns, its numbers, and a real run over a `user.` attribute."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vas_bench.layout.reading import alternate, files_of, made_files, measure
from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere
from vas_layout import requests
from vas_layout.codec import encode
from vas_layout.lfs import Lfs
from vas_layout.store import XattrStore


class Machine:
    """A clock that only the ways under test advance."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def way(self, name: str, *seconds: float) -> Callable[[], int]:
        left = [1.0, *seconds]

        def run() -> int:
            self.ran.append(name)
            self.now += left.pop(0)
            return 10

        return run


def test_ways_take_turns_and_the_first_round_does_not_count() -> None:
    machine = Machine()
    ways = {"a": machine.way("a", 1, 2, 5), "b": machine.way("b", 10, 10, 10)}
    found = alternate(ways, rounds=3, clock=lambda: machine.now)
    a, b = found["a"], found["b"]
    assert "".join(machine.ran) == "ab" + "ab" + "ba" + "ab"
    assert (a.n, a.median, a.lowest, a.highest, a.spread) == (3, 5.0, 2.0, 10.0, 1.6)
    assert (b.median, b.spread) == (1.0, 0.0)


def _lfs(tmp_path: Path) -> Lfs:
    program = tmp_path / "lfs"
    program.write_text(
        "#!/bin/sh\necho 'lmm_stripe_count: 2\nlmm_stripe_size: 65536\nlmm_pattern: raid0'\n"
    )
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.machine
def test_the_attribute_beats_a_process_per_file(tmp_path: Path) -> None:
    with made_files(tmp_path, 20) as files:
        for path in files:
            os.setxattr(path, "user.lustre.lov", encode(requests.stripes(65536, 2)))
        store = XattrStore("user.lustre.lov")
        rates = measure(files, rounds=3, store=store, lfs=_lfs(tmp_path))
    assert (rates.files, *(it.n for it in rates.rates.values())) == (20, 3, 3)
    assert rates.ratio > 10
    assert [path.name for path in tmp_path.iterdir()] == ["lfs"]


def test_files_of_a_directory_given(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no files"):
        files_of(tmp_path, 5)
    for name in "abc":
        (tmp_path / name).touch()
    assert files_of(tmp_path, 2) == [tmp_path / "a", tmp_path / "b"]


def test_without_lustre_the_machine_lacks_something(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="mount Lustre"), made_files(tmp_path / "none", 1):
        pass


def test_an_ordinary_file_system_is_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f").touch()
    assert run_command(["bench", "layout", "--dir", str(tmp_path)]) == 1
    assert f"vas: {tmp_path}/f: not on a Lustre file system; " in capsys.readouterr().err
