"""What holds for the playbooks as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ANSIBLE = Path(__file__).parents[1]
ROLES = {role.name for role in (ANSIBLE / "roles").iterdir()}
DOCS = ANSIBLE.parent / "docs"
PAGE = "".join((DOCS / name).read_text() for name in ("provisioning.md", "vagrant.md"))


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


def test_no_playbook_of_a_site_serves_lustre() -> None:
    for file in ANSIBLE.glob("*.yml"):
        if file.stem != "lab":
            assert "lustre_server" not in file.read_text(), file.name


def test_a_lab_is_a_site_after_its_servers_and_the_mgs_comes_first() -> None:
    metadata, objects, site = plays("lab")
    assert site["ansible.builtin.import_playbook"] == "site.yml"
    assert metadata["hosts"].split(":") == ["vas_lab", "!vas_oss"]
    assert objects["hosts"].split(":") == ["vas_lab", "&vas_oss"]
    assert _roles([metadata]) == _roles([objects]) == {"lustre_server"}


def test_every_playbook_and_role_is_in_the_page() -> None:
    for file in ANSIBLE.glob("*.yml"):
        assert file.name in PAGE
    for role in ROLES - {"preflight", "hostcheck"}:
        assert f"[{role}](../ansible/roles/{role}/README.md)" in PAGE


def _roles(found: list[dict[str, Any]]) -> set[str]:
    tasks = [task for play in found for task in play.get("tasks", [])]
    included = {task.get("ansible.builtin.include_role", {}).get("name") for task in tasks}
    return {r["role"] for play in found for r in play.get("roles", [])} | (included - {None})
