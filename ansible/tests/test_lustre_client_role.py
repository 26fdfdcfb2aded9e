"""The role `lustre_client` turns keys of the site's map into mounts, modules and units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

ROLE = Path(__file__).parents[1] / "roles/lustre_client"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def read(path: str) -> Any:
    return DataLoader().load_from_file(str(ROLE / path), trusted_as_template=True)


def variables(**more: Any) -> dict[str, Any]:
    cluster = {"lustre": {"mount": "/scratch"}}
    return {**read("defaults/main.yml"), **read("vars/main.yml"), "vas_cluster": cluster, **more}


def wanted(name: str, **known: Any) -> bool:
    (task,) = [one for one in read("tasks/present.yml") if one["name"] == name]
    conditions = task["when"] if isinstance(task["when"], list) else [task["when"]]
    templar = Templar(DataLoader(), variables=variables(**known))
    return all(templar.evaluate_conditional(one) for one in conditions)


@pytest.mark.parametrize(
    ("unit", "mounted", "jobid", "named"),
    [
        (False, 32, "VAS_JOBID", True),
        (True, 0, "VAS_JOBID", True),
        (False, 0, "VAS_JOBID", False),  # the site's own mount, and its own parameter
        (True, 0, "", False),
    ],
)
def test_the_name_of_a_job_is_set_on_the_role_s_own_mount(
    unit: bool, mounted: int, jobid: str, named: bool
) -> None:
    known = {
        "vas_lustre_client_jobid": jobid,
        "__vas_lustre_client_unit_there": {"stat": {"exists": unit}},
        "__vas_lustre_client_mounted": {"rc": mounted},
    }
    name = "Set the parameters of Lustre's client on the mount that the role made"
    assert wanted(name, **known) is named
    name = (
        "Remove the unit that sets the parameters of Lustre's client where the inventory has none"
    )
    gone = wanted(name, **known)
    assert gone is (jobid == "")


def rendered(**known: Any) -> str:
    """The unit that sets the client's parameters."""
    text = (ROLE / "templates/lustre-parameters.service.j2").read_text()
    templar = Templar(DataLoader(), variables=variables(**known))
    return str(templar.template(trust_as_template(text)))


def test_the_unit_follows_the_mount() -> None:
    unit = rendered()
    for key in ("Requires", "After", "WantedBy"):
        assert f"{key}=scratch.mount\n" in unit
    assert "ExecStart=/usr/sbin/lctl set_param jobid_var=VAS_JOBID\n" in unit


def test_a_site_s_own_parameters_are_set_too() -> None:
    unit = rendered(
        vas_lustre_client_jobid="",
        vas_lustre_client_parameters={"llite.*.max_read_ahead_per_file_mb": 4},
    )
    started = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert started == ["ExecStart=/usr/sbin/lctl set_param llite.*.max_read_ahead_per_file_mb=4"]


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("llite.*.max_read_ahead_mb", 64, True),
        ("osc.scratch-OST0000-*.max_dirty_mb", "32", True),
        ("jobid_var; reboot", "1", False),
        ("jobid_var", "1\nExecStart=/bin/sh", False),
        ("", "1", False),
        ("debug", "", False),
        ("debug", None, False),
        ("debug", True, False),
        ("-P", "1", False),
        ("mgc.MGC10.0.0.1@tcp.active", "1", True),
    ],
)
def test_what_is_no_parameter_is_refused(name: str, value: object, taken: bool) -> None:
    (task,) = [one for one in read("tasks/parameters.yml") if "ansible.builtin.assert" in one]
    item = {"key": name, "value": value}
    templar = Templar(DataLoader(), variables=variables(item=item))
    conditions = task["ansible.builtin.assert"]["that"]
    assert all(templar.evaluate_conditional(one) for one in conditions) is taken
