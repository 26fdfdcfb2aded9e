"""The role `evacuation` as written: what it says of guests, and that none of its steps hangs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from vas_core.process import run

ANSIBLE = Path(__file__).parents[1]
ROLE = ANSIBLE / "roles/evacuation"
POWER = "vas.site.vas_power"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def read(file: str) -> Any:
    return DataLoader().load_from_file(str(ROLE / file), trusted_as_template=True)


def task(name: str) -> dict[str, Any]:
    (found,) = [one for one in steps() if one["name"] == name]
    return dict(found)


def steps() -> list[dict[str, Any]]:
    """Every step on the server that does something, those in blocks too, in their order."""
    return [one for step in read("tasks/present.yml") for one in step.get("block", [step])]


@pytest.mark.parametrize(
    ("by_ssh", "by_agent", "cut", "unsynced"),
    [
        ([], [], [], []),
        ([], [], ["vm1"], ["vm1"]),
        (["vm1"], ["vm2"], ["vm1", "vm2", "vm3"], ["vm3"]),
    ],
)
def test_D1_a_guest_that_is_cut_without_a_sync_is_named(
    by_ssh: list[str], by_agent: list[str], cut: list[str], unsynced: list[str]
) -> None:
    known = read("vars/main.yml") | {
        "vas_evacuation_synced": by_ssh,
        "__vas_evacuation_by_agent": {"done": by_agent, "failed_for": {"vm3": "no agent"}},
        "__vas_evacuation_cut": {"done": cut},
    }
    told = task("Select the guests whose power was cut without a sync")["ansible.builtin.set_fact"]
    found = Templar(DataLoader(), variables=known).template(told)
    assert found == {"__vas_evacuation_unsynced": unsynced}
    said = task("Warn of guests whose power was cut without a sync")
    templar = Templar(DataLoader(), variables=known | found)
    assert templar.evaluate_conditional(said["when"]) is bool(unsynced)
    if unsynced:
        message = templar.template(said["ansible.builtin.debug"]["msg"])
        assert message.startswith("WARNING: the power of vm3" if cut[1:] else "WARNING: the power")
        assert "WITHOUT A SYNC" in message


def test_D1_guests_are_synced_before_they_are_told_to_shut_down() -> None:
    """Then their ssh and their agents still answer; their work was ended before."""
    actions = [one[POWER].get("action") for one in steps() if POWER in one]
    assert actions == [None, "sync", "shutdown", "cut"]
    plays = yaml.safe_load((ANSIBLE / "evacuate.yml").read_text())
    drained = [one.get("ansible.builtin.raw", "") for one in plays[1]["tasks"]]
    assert "sync" in drained[1] and plays[2]["tasks"][0]["ansible.builtin.include_role"] == {
        "name": "vas.site.evacuation"
    }


@pytest.mark.parametrize(("synced", "seconds"), [(["vm1"], 20), ([], 10)])
def test_H5_a_guest_that_answers_nobody_is_not_waited_for_as_long(
    synced: list[str], seconds: int
) -> None:
    known = read("vars/main.yml") | {
        "vas_evacuation_synced": synced,
        "vas_evacuation_seconds": 20,
        "__vas_evacuation_found": {"running": ["vm1"]},
    }
    found = Templar(DataLoader(), variables=known).template(known["__vas_evacuation_wait"])
    assert found == seconds


def test_H5_every_step_on_the_server_has_an_end() -> None:
    asks = [one for one in steps() if {POWER, "vas.site.vas_affinity"} & {*one}]
    asks += [one for one in steps() if "ansible.builtin.systemd_service" in one]
    assert len(asks) == 6 and all("timeout" in one for one in asks)


# In place of the role's own modules: one action of vas_power ends as an error of the module's does.
_MODULE = """#!/usr/bin/python
import os
from ansible.module_utils.basic import AnsibleModule

arguments = {name: {"type": "raw"} for name in ("names", "action", "seconds", "state", "host")}
module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
action = module.params["action"] or module.params["state"] or "status"
with open(os.environ["ACTIONS"], "a") as done:
    done.write(action + "\\n")
if action == os.environ["BROKEN"]:
    raise TypeError("list indices must be integers")
done = ["vm1"] if action == "cut" else []
module.exit_json(running=["vm1"], failed_for={}, kept_up={}, done=done)
"""
_PLAY = """
- hosts: localhost
  gather_facts: false
  any_errors_fatal: true
  vars: {vas_host: {guests: [{name: vm1}]}}
  roles: [vas.site.evacuation]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "actions"),
    [
        ("sync", ["status", "sync", "shutdown", "cut", "absent"]),
        ("status", ["status", "shutdown", "cut", "absent"]),
        ("shutdown", ["status", "sync", "shutdown", "cut", "absent"]),
    ],
)
def test_H5_shutdown_and_cut_come_though_a_step_before_ends_with_an_error(
    tmp_path: Path, broken: str, actions: list[str]
) -> None:
    """By Ansible itself; what was not synced is named, what may start again ends in an error."""
    collection = tmp_path / "ansible_collections/vas/site"
    (collection / "plugins/modules").mkdir(parents=True)
    (collection / "roles").symlink_to(ANSIBLE / "roles")
    for module in ("vas_power", "vas_affinity"):
        (collection / f"plugins/modules/{module}.py").write_text(_MODULE)
    (tmp_path / "play.yml").write_text(_PLAY)
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "ACTIONS": str(tmp_path / "actions"),
        "BROKEN": broken,
    }
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    words = [program, "-i", "localhost,", "-c", "local", str(tmp_path / "play.yml")]
    ended = run(words, check=False, env=environment, timeout_seconds=100)
    done = tmp_path / "actions"
    assert done.exists() and done.read_text().split() == actions, ended.stdout + ended.stderr
    said = " ".join(ended.stdout.split())
    assert "the power of vm1 was cut WITHOUT A SYNC" in said
    assert (ended.status != 0) is (broken == "shutdown"), said
    assert ("guests may still start with the server" in said) is (broken == "shutdown")


# Programs that wait for somebody who may hang: libvirt, Lustre, another machine.
_WAIT = ("virsh", "lctl", "lfs", "ssh", "curl", "kinit")


def commands(value: Any) -> list[list[str]]:
    """Each list of words below a YAML value that names one of those programs."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in commands(one)]
    if not isinstance(value, list):
        return []
    words = [one for one in value if isinstance(one, str)]
    own = [words] if set(words) & {*_WAIT} else []
    return own + [found for one in value for found in commands(one)]


@pytest.mark.parametrize(
    "file",
    [*ANSIBLE.glob("*.yml"), *ANSIBLE.glob("roles/*/*/*.yml")],
    ids=lambda file: str(file.relative_to(ANSIBLE)),
)
def test_H5_no_role_waits_without_bound(file: Path) -> None:
    text = file.read_text()
    for words in commands(yaml.safe_load(text)):
        assert words[0] == "timeout" and re.fullmatch(r"\d+", words[2]), words
    # A shell command would hide it.
    assert not re.search(r"^ *(ansible.builtin.)?shell:.*\b(virsh|lctl|lfs|curl)\b", text, re.M)
