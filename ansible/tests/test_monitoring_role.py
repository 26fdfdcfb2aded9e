"""Where the role `monitoring` runs vas-jobstats, and what of it `absent` removes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/monitoring"
UNIT = ROLE.parents[2] / "yarn/systemd/vas-jobstats.service"
TEXTFILES = "/var/lib/prometheus/node-exporter"
LINK = f"{TEXTFILES}/vas-jobstats.prom"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def read(path: str) -> Any:
    return DataLoader().load_from_file(str(ROLE / path), trusted_as_template=True)


def templar(textfiles: str, host: str = "oss1") -> Templar:
    known = {**read("defaults/main.yml"), **read("vars/main.yml"), "inventory_hostname": host}
    groups = {"vas_oss": ["oss1"], "vas_guests": ["vm1"]}
    more = {"groups": groups, "vas_monitoring_textfiles": textfiles}
    return Templar(DataLoader(), variables=known | more)


def included(textfiles: str, host: str) -> list[str]:
    """The files of tasks that `present` includes on a host."""
    found = []
    for task in read("tasks/present.yml"):
        conditions = task.get("when", [])
        conditions = conditions if isinstance(conditions, list) else [conditions]
        judge = templar(textfiles, host).evaluate_conditional
        if "ansible.builtin.include_tasks" in task and all(map(judge, conditions)):
            found.append(task["ansible.builtin.include_tasks"])
    return found


@pytest.mark.parametrize(
    ("textfiles", "host", "files"),
    [
        (TEXTFILES, "oss1", ["jobstats.yml"]),
        (TEXTFILES, "vm1", []),
        ("", "oss1", ["jobstats_absent.yml"]),
        ("", "vm1", ["jobstats_absent.yml"]),
    ],
)
def test_storage_servers_alone_run_it_and_only_where_it_is_published(
    textfiles: str, host: str, files: list[str]
) -> None:
    assert included(textfiles, host) == files


def test_the_link_leads_to_the_service_s_file() -> None:
    (link,) = (t for t in read("tasks/jobstats.yml") if "ansible.builtin.file" in t)
    words = link["ansible.builtin.file"]
    assert templar(TEXTFILES).template(words["dest"]) == LINK
    assert f"--metrics {words['src']} " in UNIT.read_text()


def test_absent_removes_the_link_that_it_knows_of() -> None:
    (removed,) = (t for t in read("tasks/jobstats_absent.yml") if "loop" in t)
    unit = f"/etc/systemd/system/{UNIT.name}"
    assert templar(TEXTFILES).template(removed["loop"]) == [unit, LINK]
    assert templar("").template(removed["loop"]) == [unit]
    assert "jobstats_absent.yml" in (ROLE / "tasks/absent.yml").read_text()
