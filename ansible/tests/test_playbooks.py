"""What holds for the playbooks as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ANSIBLE = Path(__file__).parents[1]
ROLES = {role.name for role in (ANSIBLE / "roles").iterdir()}
PAGE = (ANSIBLE.parent / "docs/provisioning.md").read_text()


def plays(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((ANSIBLE / f"{name}.yml").read_text()))


@pytest.mark.parametrize("name", ["site", "verify", "rolling-upgrade"])
def test_what_was_evacuated_is_left_alone(name: str) -> None:
    for play in plays(name):
        hosts = set(play["hosts"].split(":"))
        if hosts & {"vas_oss", "vas_guests"}:
            assert "!vas_evacuated" in hosts, play["name"]


def test_teardown_takes_away_what_site_brings() -> None:
    brings, takes = (_roles(plays(name)) for name in ("site", "teardown"))
    assert brings - {"preflight", "hostcheck"} == takes


def test_every_playbook_and_role_is_in_the_page() -> None:
    for file in ANSIBLE.glob("*.yml"):
        assert file.name in PAGE
    for role in ROLES - {"preflight", "hostcheck"}:
        assert f"[{role}](../ansible/roles/{role}/README.md)" in PAGE


def _roles(found: list[dict[str, Any]]) -> set[str]:
    tasks = [task for play in found for task in play.get("tasks", [])]
    included = {task.get("ansible.builtin.include_role", {}).get("name") for task in tasks}
    return {r["role"] for play in found for r in play.get("roles", [])} | (included - {None})


def test_a_guest_is_waited_for_before_anything_is_asked_of_it() -> None:
    """One that was just started has no sshd yet, so gathering its facts would fail."""
    on_guests = [play for play in plays("site") if "vas_guests" in play["hosts"].split(":")]
    first = on_guests[0]
    assert first["gather_facts"] is False
    (task,) = first["tasks"]
    wished = {"name": "hostcheck", "tasks_from": "started.yml"}
    assert task["ansible.builtin.include_role"] == wished
    names = [play["name"] for play in plays("site")]
    assert names.index("Define and start the guests") < names.index(first["name"])
