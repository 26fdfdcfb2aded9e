"""Where the role `monitoring` publishes files by a node exporter, and what `absent` removes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/monitoring"
UNIT = ROLE.parents[2] / "yarn/systemd/vas-jobstats.service"
JANITOR = UNIT.with_name("vas-shuffle-gc@.service")
STAGING = "scratch-yarn-staging"
TEXTFILES = "/var/lib/prometheus/node-exporter"
LINK = f"{TEXTFILES}/vas-jobstats.prom"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def read(path: str) -> Any:
    return DataLoader().load_from_file(str(ROLE / path), trusted_as_template=True)


def templar(textfiles: str, host: str = "oss1", **more: Any) -> Templar:
    known = {**read("defaults/main.yml"), **read("vars/main.yml"), "inventory_hostname": host}
    groups = {"vas_oss": ["oss1"], "vas_guests": ["vm1"], "vas_resourcemanager": ["rm"]}
    known |= {"groups": groups, "vas_monitoring_textfiles": textfiles}
    known["__vas_monitoring_staging"] = {"stdout": STAGING}
    return Templar(DataLoader(), variables=known | more)


def included(textfiles: str, host: str, **more: Any) -> list[str]:
    """The files of tasks that `present` includes on a host."""
    found = []
    for task in read("tasks/present.yml"):
        conditions = task.get("when", [])
        conditions = conditions if isinstance(conditions, list) else [conditions]
        judge = templar(textfiles, host, **more).evaluate_conditional
        if "ansible.builtin.include_tasks" in task and all(map(judge, conditions)):
            found.append(task["ansible.builtin.include_tasks"])
    return found


@pytest.mark.parametrize(
    ("textfiles", "host", "files"),
    [
        (TEXTFILES, "oss1", ["jobstats.yml"]),
        (TEXTFILES, "vm1", []),
        (TEXTFILES, "rm", ["janitor.yml"]),
        ("", "oss1", ["jobstats_absent.yml"]),
        ("", "vm1", ["jobstats_absent.yml"]),
        ("", "rm", ["jobstats_absent.yml", "janitor_absent.yml"]),
    ],
)
def test_storage_servers_and_the_resourcemanager_publish_what_they_have(
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


def test_no_link_is_made_where_the_inventory_excludes_a_janitor() -> None:
    assert included(TEXTFILES, "rm", vas_hadoop_janitor=False) == ["janitor_absent.yml"]


def test_the_janitor_s_link_leads_to_the_unit_s_file() -> None:
    """Its name is that of a link by `ln -s /run/vas-janitor/*.prom`: two would be read twice."""
    (link,) = (t for t in read("tasks/janitor.yml") if "ansible.builtin.file" in t)
    words = {k: templar(TEXTFILES).template(v) for k, v in link["ansible.builtin.file"].items()}
    assert words["dest"] == f"{TEXTFILES}/{STAGING}.prom"
    assert f"--metrics {words['src'].replace(STAGING, '%i')}" in JANITOR.read_text()


def test_the_janitor_s_link_is_made_only_where_a_node_exporter_reads() -> None:
    *_, link, told = read("tasks/janitor.yml")
    for there in (True, False):
        known = templar(TEXTFILES, "rm", __vas_monitoring_exporter={"stat": {"exists": there}})
        assert known.evaluate_conditional(link["when"]) is there
        assert known.evaluate_conditional(told["when"]) is not there


def test_absent_removes_the_janitor_s_link_on_the_resourcemanager() -> None:
    (taken,) = (t for t in read("tasks/absent.yml") if "janitor_absent.yml" in str(t))
    assert templar(TEXTFILES, "rm").evaluate_conditional(taken["when"])
    assert not templar(TEXTFILES, "oss1").evaluate_conditional(taken["when"])
    (block,) = read("tasks/janitor_absent.yml")
    (removed,) = (t for t in block["block"] if "ansible.builtin.file" in t)
    path = removed["ansible.builtin.file"]["path"]
    assert templar(TEXTFILES).template(path) == f"{TEXTFILES}/{STAGING}.prom"
    assert not templar("").evaluate_conditional(block["when"])


@pytest.mark.parametrize("book", ["site.yml", "teardown.yml"])
def test_the_playbooks_play_the_role_on_the_resourcemanager(book: str) -> None:
    plays = DataLoader().load_from_file(str(ROLE.parents[1] / book))
    (play,) = (
        p for p in plays if {"vas.site.monitoring"} & {r["role"] for r in p.get("roles", ())}
    )
    assert "vas_resourcemanager" in play["hosts"].split(":")


@pytest.mark.parametrize(
    ("runbooks", "told"),
    [("docs", True), ("/srv/docs", True), ("https://docs.hpc.example/vas", False)],
)
def test_links_that_no_browser_can_open_are_reported(runbooks: str, told: bool) -> None:
    (block,) = (t for t in read("tasks/present.yml") if "block" in t)
    (report,) = (t for t in block["block"] if "ansible.builtin.debug" in t)
    known = templar(TEXTFILES, vas_monitoring_runbooks=runbooks)
    assert known.evaluate_conditional(report["when"]) is told
    assert runbooks in known.template(report["ansible.builtin.debug"]["msg"])
