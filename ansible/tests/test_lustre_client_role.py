"""The role `lustre_client` turns keys of the site's map into mounts, modules and units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

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
    name = "Set Lustre's parameter jobid_var on the mount that the role made"
    assert wanted(name, **known) is named
    name = "Remove the unit that names jobs to Lustre where the inventory excludes such names"
    gone = wanted(name, **known)
    assert gone is (jobid == "")


def test_the_unit_follows_the_mount() -> None:
    text = (ROLE / "templates/lustre-jobid.service.j2").read_text()
    unit = text.replace("{{ __vas_lustre_client_unit }}", "scratch.mount")
    for key in ("Requires", "After", "WantedBy"):
        assert f"{key}=scratch.mount" in unit
    assert "lctl set_param jobid_var={{ vas_lustre_client_jobid }}" in unit
