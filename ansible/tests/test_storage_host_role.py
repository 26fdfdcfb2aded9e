"""What the role `storage_host` makes of what libvirt lists when VAS is taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

ROLE = Path(__file__).parents[1] / "roles/storage_host"
HOST = {"nics": {"pf": "ens1f0"}, "guests": [{"name": "vm1"}]}
# virsh ends each list with an empty line.
OWN = [["vm1", ""], ["default", "vas-ens1f0", ""], [""]]

# Importing Ansible looks for a controller of jobs.
pytestmark = [pytest.mark.machine, pytest.mark.usefixtures("ansible_plugins")]


def foreign(*listed: list[str]) -> Any:
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    results = [{"stdout_lines": lines} for lines in listed] or [{"msg": "No such file"}]
    known = {**variables, "vas_host": HOST, "__vas_storage_host_others": {"results": results}}
    return Templar(loader, variables=known).template(known["__vas_storage_host_foreign"])


def test_what_is_vass_and_libvirts_own_keeps_nothing() -> None:
    assert foreign(*OWN) == []
    assert foreign() == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_machine_a_network_or_a_pool_of_somebodys_keeps_libvirt(number: int) -> None:
    listed = [[*lines, "theirs"] if at == number else lines for at, lines in enumerate(OWN)]
    assert foreign(*listed) == ["theirs"]


def test_packages_go_only_where_nobody_has_anything() -> None:
    tasks = DataLoader().load_from_file(str(ROLE / "tasks/absent.yml"), trusted_as_template=True)
    (packages,) = [task for task in tasks if "vas.site.vas_packages" in task]
    for found, going in (([], True), (["theirs"], False)):
        known = {"__vas_storage_host_foreign": found}
        condition = trust_as_template(f"{{{{ {packages['when']} }}}}")
        assert Templar(DataLoader(), variables=known).template(condition) is going
