"""Kernel parameters: held, and given back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from modules import load

sysctl = load("modules/vas_sysctl.py")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for key, value in {"net/core/a": "1\n", "net/core/b": "4\t8\t16\n"}.items():
        (tmp_path / "proc/sys" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc/sys" / key).write_text(value)
    return tmp_path


def parameters(tree: Path, *, check_mode: bool = False):  # type: ignore[no-untyped-def]
    files = (tree / "etc/60-vas.conf", tree / "lib/sysctl.json")
    return sysctl.SysctlParameters(*files, sysctl.ProcSys(tree), check_mode=check_mode)


def value(tree: Path, key: str) -> str | None:
    found = sysctl.ProcSys(tree).value(key)
    assert found is None or isinstance(found, str)
    return found


def test_they_hold_and_come_back(tree: Path) -> None:
    wanted = {"net.core.a": "2", "net.core.b": "4 8 16", "net.core.none": "1"}
    first = parameters(tree).hold(wanted)
    assert (first["changed"], first["missing"]) == (True, ["net.core.none"])
    assert first["diff"] == {"before": "net.core.a = 1\n", "after": "net.core.a = 2\n"}
    assert value(tree, "net.core.a") == "2"
    assert not parameters(tree).hold(wanted)["changed"]
    assert parameters(tree).hold({})["changed"]
    assert value(tree, "net.core.a") == "1"
    assert list((tree / "etc").iterdir()) == list((tree / "lib").iterdir()) == []
    assert not parameters(tree).hold({})["changed"]


def test_one_that_is_not_wished_any_more_comes_back_alone(tree: Path) -> None:
    parameters(tree).hold({"net.core.a": "2", "net.core.b": "1 1 1"})
    parameters(tree).hold({"net.core.b": "1 1 1"})
    assert (value(tree, "net.core.a"), value(tree, "net.core.b")) == ("1", "1 1 1")
    assert json.loads((tree / "lib/sysctl.json").read_text()) == {"net.core.b": "4 8 16"}


def test_what_another_hand_changed_is_repaired_and_the_first_value_kept(tree: Path) -> None:
    parameters(tree).hold({"net.core.a": "2"})
    sysctl.ProcSys(tree).set("net.core.a", "7")
    assert parameters(tree).hold({"net.core.a": "2"})["changed"]
    parameters(tree).hold({})
    assert value(tree, "net.core.a") == "1"


def test_check_mode_changes_nothing(tree: Path) -> None:
    assert parameters(tree, check_mode=True).hold({"net.core.a": "2"})["changed"]
    assert value(tree, "net.core.a") == "1"
    assert not (tree / "etc").exists()
