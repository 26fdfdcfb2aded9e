"""`preflight` asks a site for each required variable before it changes anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml

from vas_ansible.checks import examine_required
from vas_cluster import load_cluster
from vas_core.process import run

ANSIBLE = Path(__file__).parents[1]
MAP = ANSIBLE.parent / "cluster/examples/four-oss.yaml"
SITE = load_cluster(MAP)
SERVER, GUEST = "oss01.hpc.example", "vas01.hpc.example"
SAID: dict[str, object] = {
    "vas_program_archive": "/srv/vas-wheels.tar",
    "vas_hadoop_archive": "/srv/vas-hadoop.tar",
    "vas_guest_image": "/srv/image",
    "vas_guest_settings": {"authorized_keys": ["ssh-ed25519 AAAA ann"]},
}


@pytest.mark.parametrize("name", SAID)
def test_each_required_variable_is_asked_for_by_its_name(name: str) -> None:
    variables = {key: value for key, value in SAID.items() if key != name}
    (found,) = examine_required(SITE, {SERVER: variables, GUEST: SAID})
    assert (found.where, found.check) == (SERVER, name)


@pytest.mark.parametrize("name", SAID)
def test_nothing_is_a_choice(name: str) -> None:
    empty: object = {"authorized_keys": []} if name == "vas_guest_settings" else ""
    assert not examine_required(SITE, {SERVER: SAID | {name: empty}})


def test_a_guest_has_no_guests() -> None:
    ours = {name: SAID[name] for name in ("vas_program_archive", "vas_hadoop_archive")}
    assert not examine_required(SITE, {GUEST: ours})


def test_the_page_s_first_variables_are_the_required_ones() -> None:
    first = yaml.safe_load((ANSIBLE / "examples/group_vars/all.yml").read_text())
    assert list(first) == list(SAID)


@pytest.mark.machine
def test_site_yml_names_all_that_is_missing_and_reaches_no_machine(tmp_path: Path) -> None:
    inventory = tmp_path / "vas.yml"
    inventory.write_text(yaml.safe_dump({"plugin": "vas_cluster", "file": str(MAP)}))
    done = run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", inventory, "site.yml"],
        cwd=ANSIBLE,
        env={**os.environ, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"},
        check=False,
    )
    assert done.status != 0
    for name in SAID:
        assert f"{SERVER}: {name}: " in done.stdout, done.stdout
    assert "unreachable=0" in done.stdout and "hostcheck" not in done.stdout
