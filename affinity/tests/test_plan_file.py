"""Plans that are refused, each with one line that names file, key and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vas_affinity.apply.plan_file import read_plan
from vas_core.cli import run_command
from vas_core.errors import BadInput

VCPU = {"target": "vcpu", "name": "0", "guest": "vm1", "cpus": [0], "reason": "test"}
THREAD = {"target": "thread", "name": "a/b/0", "cpus": [0], "reason": "t", "tid": 7, "start": 9}


def write(tmp_path: Path, *pins: dict[str, Any], **rest: Any) -> Path:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"host": "oss1", "pins": pins, **rest}))
    return file


def test_a_plan_is_read(tmp_path: Path) -> None:
    plan = read_plan(write(tmp_path, VCPU, THREAD, {**THREAD, "tid": 8}), "oss1")
    assert [pin.cpus for pin in plan.pins] == [(0,), (0,), (0,)]


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        ({**VCPU, "color": "red"}, "pins[0].color: unknown key"),
        ({**VCPU, "target": "gpu"}, "pins[0].target"),
        ({**VCPU, "cpus": []}, "pins.0: has no CPU"),
        ({**VCPU, "guest": None}, "pins.0: a pin of vcpu needs its guest"),
        ({**VCPU, "name": "zero"}, "pins.0: 'zero' is not a number of a vcpu"),
        ({**THREAD, "start": None}, "pins.0: needs both tid and start, or neither"),
        ({**THREAD, "target": "group", "name": "/a/../b"}, "'/a/../b' is not a path of a cgroup"),
        ({**THREAD, "target": "group", "name": "/"}, "'/' is not a path of a cgroup"),
    ],
)
def test_a_pin_that_cannot_be_meant(pin: dict[str, Any], said: str, tmp_path: Path) -> None:
    file = write(tmp_path, pin)
    with pytest.raises(BadInput) as refused:
        read_plan(file, "oss1")
    assert str(refused.value).startswith(f"{file}: ")
    assert said in str(refused.value)


def test_one_thing_is_pinned_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"pins\.2: vcpu 0 is pinned by pins\.0 too"):
        read_plan(write(tmp_path, VCPU, THREAD, {**VCPU, "cpus": [1]}), "oss1")


def test_the_same_number_of_another_guest_is_another(tmp_path: Path) -> None:
    assert len(read_plan(write(tmp_path, VCPU, {**VCPU, "guest": "vm2"}), "oss1").pins) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "\0", '{"host": 1}'])
def test_what_is_no_plan(content: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(content)
    with pytest.raises(BadInput, match="vas affinity plan"):
        read_plan(file, "oss1")


@pytest.mark.parametrize("command", ["apply", "verify"])
def test_another_hosts_plan_is_one_line_and_status_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, VCPU)
    state = tmp_path / "state"
    words = ["affinity", command, str(file), "--host", "oss2", "--state", str(state)]
    assert run_command(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is the plan of oss1, not of oss2" in said
    assert not state.exists()


@pytest.mark.parametrize(
    ("plans", "here", "same"),
    [
        ("oss1.site", "oss1", True),
        ("oss1", "oss1.site", True),
        ("oss1.site", "oss1.site", True),
        ("oss1.site", "oss1.other", False),
        ("oss1.site", "oss2", False),
        ("oss1.site", "oss1.", True),
    ],
)
def test_a_host_is_named_with_its_domain_or_without(
    plans: str, here: str, same: bool, tmp_path: Path
) -> None:
    file = write(tmp_path, VCPU, host=plans)
    if same:
        assert read_plan(file, here).host == plans
    else:
        with pytest.raises(BadInput, match=f"is the plan of {plans}"):
            read_plan(file, here)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such plan"):
        read_plan(tmp_path / "none.json", "oss1")


def test_a_directory_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        read_plan(tmp_path, "oss1")
