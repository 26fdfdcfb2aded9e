"""The module `vas_affinity`: when it makes a plan, and what it says of huge pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from modules import SHARED, load

RESERVE = "vm1: it needs 4 pages of 1GiB, and node 0 has 0 reserved: reserve them before it starts"


class _Ended(Exception):
    """What a module ends with."""


class _Module:
    """A module on a node where `vas affinity plan` prints a plan with these notes."""

    def __init__(self, directory: Path, notes: list[str], **params: object) -> None:
        given = {"plan": str(directory / "plan.json"), "cluster": str(directory / "map")}
        self.params: dict[str, Any] = given | {"program": "vas", "host": "oss1"} | params
        self.params |= {"oss_share": 0.25, "junk_siblings": False, "inputs": {}, "force": False}
        self.check_mode = False
        self.notes = notes
        self.asked: list[list[str]] = []

    def run_command(self, argv: list[str]) -> tuple[int, str, str]:
        self.asked.append(argv)
        plan = json.dumps({"notes": self.notes})
        for word in argv:
            if word.startswith("--out="):
                Path(word.removeprefix("--out=")).write_text(plan)
        return 0, plan, ""

    def exit_json(self, **found: object) -> None:
        raise _Ended(found)


@pytest.fixture(autouse=True)
def asked_by_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible puts this file there on the node."""
    monkeypatch.setitem(sys.modules, f"{SHARED}.vas", load("module_utils/vas.py"))


def planned(module: _Module) -> dict[str, Any]:
    with pytest.raises(_Ended) as ended:
        load("modules/vas_affinity.py")._planned(module)
    found: dict[str, Any] = ended.value.args[0]
    return found


@pytest.mark.parametrize("huge_pages", [True, False])
def test_a_plan_stays_and_what_pages_it_lacks_is_asked_anew(
    tmp_path: Path, huge_pages: bool
) -> None:
    first = planned(_Module(tmp_path, [RESERVE], huge_pages=huge_pages))
    assert (first["changed"], first["notes"]) == (True, [RESERVE])
    plan = (tmp_path / "plan.json").read_text()
    reserved = _Module(tmp_path, [], huge_pages=huge_pages)
    again = planned(reserved)
    assert again["changed"] is False
    assert again["notes"] == ([] if huge_pages else [RESERVE])
    assert len(reserved.asked) == (1 if huge_pages else 0)
    assert (tmp_path / "plan.json").read_text() == plan
