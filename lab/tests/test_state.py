"""The directory of a lab: what may be named, looked at and deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.errors import BadInput, VasError
from vas_lab.state import default_directory, hold, is_running, wipe


@pytest.mark.parametrize("name", ["", "..", "../..", "/tmp/precious", "a/b", "-x", ".hidden"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(BadInput, match="is not a lab's name"):
        default_directory(name)


def test_wipe_deletes_a_lab_and_nothing_else(tmp_path: Path) -> None:
    other, lab = tmp_path / "other", tmp_path / "lab"
    other.mkdir()
    with pytest.raises(BadInput, match="holds no lab"):
        wipe(other)
    with hold(lab), pytest.raises(VasError, match="is up already"):
        wipe(lab)
    wipe(lab)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_those_who_look_do_not_see_one_another(tmp_path: Path) -> None:
    with hold(tmp_path):
        assert is_running(tmp_path)
    assert not is_running(tmp_path)
