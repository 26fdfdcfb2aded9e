"""What holds for the playbooks as they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from vas_ansible.readme import options_of
from vas_guest.seed import USER
from vas_guest.settings import GuestSettings

ANSIBLE = Path(__file__).parents[1]
PLAYBOOKS = sorted(set(ANSIBLE.glob("*.yml")) - {ANSIBLE / "galaxy.yml"})
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


def test_what_playbooks_and_commands_are_told_is_known_to_preflight() -> None:
    options = {name for role in ROLES for name in options_of(ANSIBLE / "roles" / role)}
    told = yaml.safe_load((ANSIBLE / "roles/preflight/vars/main.yml").read_text())
    texts = "".join(file.read_text() for file in PLAYBOOKS)
    named = {*re.findall(r"\b(vas_\w+) \| default", texts), *re.findall(r"-e (vas_\w+)", PAGE)}
    assert named <= options | set(told["__vas_preflight_of_playbooks"])


def test_teardown_takes_away_what_site_brings() -> None:
    brings, takes = (_roles(plays(name)) for name in ("site", "teardown"))
    assert brings - {"preflight", "hostcheck"} == takes


def test_no_change_is_made_before_every_check_passes() -> None:
    """A failed check on one machine ends the run for all, whatever ansible.cfg is read."""
    found = plays("site")
    first = next(n for n, play in enumerate(found) if _roles([play]) - {"preflight", "hostcheck"})
    before = [play for play in found[:first] if _roles([play])]
    assert [_roles([play]) for play in before] == [{"preflight"}, {"hostcheck"}]
    assert {"vas_oss", "vas_resourcemanager"} <= set(before[1]["hosts"].split(":"))
    checks = [play for play in found if _roles([play]) & {"preflight", "hostcheck"}]
    assert all(play["any_errors_fatal"] is True for play in checks)


def test_D1_an_upgraded_guest_is_synced_after_its_work_and_before_it_is_changed() -> None:
    steps = next(play for play in plays("rolling-upgrade") if "serial" in play)["tasks"]
    text = [str(step) for step in steps]
    (sync,) = [n for n, step in enumerate(text) if "'sync'" in step]
    argv = steps[sync]["ansible.builtin.command"]["argv"]
    assert argv[0] == "timeout" and argv[-1] == "sync" and steps[sync]["timeout"] > int(argv[2])
    assert "ignore_errors" not in steps[sync] and "failed_when" not in steps[sync]
    (stopped,) = [n for n, step in enumerate(text) if "vas-nodemanager.service" in step]
    changes = [
        n for n, step in enumerate(text) if "site.program'" in step or "site.hadoop'" in step
    ]
    assert stopped < sync < min(changes)


def test_D1_teardown_unmounts_lustre_before_a_guest_is_shut_down() -> None:
    guests = [play for play in plays("teardown") if play["hosts"] != "vas_clients"]
    names = [_roles([play]) for play in guests]
    (unmounts,) = [n for n, roles in enumerate(names) if "lustre_client" in roles]
    # What shuts guests down; the first play only refuses.
    ends = [n for n, roles in enumerate(names) if "guest" in roles and n > 0]
    assert ends and unmounts < min(ends)


def test_teardown_refuses_before_it_changes_anything() -> None:
    first, second, *_ = plays("teardown")
    (refusal,) = first["tasks"]
    assert refusal["ansible.builtin.include_role"] == {
        "name": "vas.site.guest",
        "tasks_from": "refuse.yml",
    }
    assert first["hosts"] == "vas_oss"
    assert first["any_errors_fatal"] is second["any_errors_fatal"] is True


@pytest.mark.parametrize("name", ["site", "teardown"])
def test_a_guest_that_is_not_there_is_left_out(name: str) -> None:
    found = plays(name)
    known = next(n for n, play in enumerate(found) if "group_by" in str(play))
    later = [set(play["hosts"].split(":")) for play in found[known + 1 :]]
    assert all("!vas_silent" in hosts for hosts in later if "vas_guests" in hosts)


EXAMPLES = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.S)]


def test_the_page_s_group_variables_are_options_and_what_the_commands_make() -> None:
    everywhere, guests = (one for one in EXAMPLES if isinstance(one, dict))
    known = {name for role in ROLES for name in options_of(ANSIBLE / "roles" / role)}
    assert set(everywhere) <= known
    assert GuestSettings.model_validate(everywhere["vas_guest_settings"]).authorized_keys
    assert guests["ansible_user"] == USER
    for name in ("vas_program_archive", "vas_hadoop_archive", "vas_guest_image"):
        made = everywhere[name].removeprefix("{{ playbook_dir }}/../")
        assert re.search(rf"^\$ .*\./vas .* {re.escape(made)}\b", PAGE, re.M), made


def test_no_playbook_of_a_site_serves_lustre() -> None:
    for file in PLAYBOOKS:
        if file.stem != "lab":
            assert "lustre_server" not in file.read_text(), file.name


def test_a_lab_is_a_site_after_its_servers_and_the_mgs_comes_first() -> None:
    refusal, metadata, objects, site = plays("lab")
    assert refusal["hosts"] == "localhost"
    assert site["ansible.builtin.import_playbook"] == "site.yml"
    assert metadata["hosts"].split(":") == ["vas_lab", "!vas_oss"]
    assert objects["hosts"].split(":") == ["vas_lab", "&vas_oss"]
    assert _roles([metadata]) == _roles([objects]) == {"lustre_server"}


def test_every_playbook_and_role_is_in_the_page() -> None:
    for file in PLAYBOOKS:
        assert file.name in PAGE
    for role in ROLES - {"preflight", "hostcheck"}:
        assert f"[{role}](../ansible/roles/{role}/README.md)" in PAGE


def _roles(found: list[dict[str, Any]]) -> set[str]:
    tasks = [task for play in found for task in play.get("tasks", [])]
    included = {task.get("ansible.builtin.include_role", {}).get("name") for task in tasks}
    roles = {r["role"] for play in found for r in play.get("roles", [])} | (included - {None})
    assert all(role.startswith("vas.site.") for role in roles), "named as in the collection"
    return {role.removeprefix("vas.site.") for role in roles}


def test_a_guest_is_waited_for_before_anything_is_asked_of_it() -> None:
    """One that was just started has no sshd yet, so gathering its facts would fail."""
    on_guests = [play for play in plays("site") if "vas_guests" in play["hosts"].split(":")]
    started = {"name": "vas.site.hostcheck", "tasks_from": "started.yml"}
    waits = [
        [task.get("ansible.builtin.include_role") for task in p["tasks"]] for p in on_guests[:2]
    ]
    assert started in waits[1]
    assert all(play["gather_facts"] is False for play in on_guests[:2])
    first = on_guests[1]
    names = [play["name"] for play in plays("site")]
    assert names.index("Define and start the guests") < names.index(first["name"])


@pytest.mark.parametrize("name", ["all", "vas_guests"])
def test_the_first_variables_of_a_site_are_the_page_s(name: str) -> None:
    text = (ANSIBLE / f"examples/group_vars/{name}.yml").read_text()
    assert text.removeprefix("---\n") in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    options = {option for role in ROLES for option in options_of(ANSIBLE / "roles" / role)}
    assert {key for key in yaml.safe_load(text) if key.startswith("vas_")} <= options
