"""What `preflight` finds in the variables of a site, each with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_ansible.checks import examine_inventory
from vas_cluster import load_cluster

SITE = load_cluster(Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml")
OSS, GUEST = "oss01.hpc.example", "vas01.hpc.example"
EXECUTOR = {"vas_hadoop_container_executor": "container-executor"}
KNOWN = [
    "vas_hadoop_container_executor",
    "vas_hadoop_reserved",
    "vas_hadoop_kerberos_realm",
    "vas_route_switcher_state",
]


def test_unknown_and_removed_variables_are_named() -> None:
    variables = {"vas_hadoop_reservd": "2GiB", "vas_old": 1, "vas_cluster": {}, "other": 1}
    variables |= EXECUTOR
    by_node = {"vas01.hpc.example": variables, "vas02.hpc.example": variables}
    found = examine_inventory(SITE, by_node, {}, KNOWN, {"vas_old": "use vas_new"})
    assert [(finding.check, finding.fix) for finding in found] == [
        ("vas_hadoop_reservd", "did you mean vas_hadoop_reserved?"),
        ("vas_old", "use vas_new"),
    ]


def test_what_two_variables_demand_of_each_other() -> None:
    by_node = {GUEST: {"vas_hadoop_reserved": "64GiB", "vas_hadoop_kerberos_realm": "X"}}
    found = examine_inventory(SITE, by_node, {}, KNOWN, {})
    assert [finding.check for finding in found] == [
        "vas_hadoop_reserved",
        "vas_hadoop_kerberos_keytabs",
        "vas_hadoop_container_executor",
    ]


@pytest.mark.parametrize(
    ("name", "settings", "what"),
    [
        ("vas_guest_settings", {"acelerator": "qemu"}, "acelerator: extra inputs"),
        ("vas_guest_settings", {"initrd": "/boot/initrd"}, "the whole: value error, initrd and"),
        (
            "vas_route_switcher_settings",
            {"probe_interval_ms": 1},
            "probe_interval_ms: input should",
        ),
        ("vas_affinity_settings", {"moves_per_hour": "few"}, "moves_per_hour: input should"),
    ],
)
def test_settings_that_no_program_would_take_are_refused_before_any_change(
    name: str, settings: dict[str, object], what: str
) -> None:
    (found,) = examine_inventory(SITE, {OSS: {name: settings}}, {}, [name], {})
    assert found.check == name
    assert found.what.startswith(what)
    assert "docs/" in found.fix


def test_jobs_of_the_queues_users_do_not_run_as_yarn() -> None:
    (found,) = examine_inventory(SITE, {GUEST: {}, "yarn-rm.hpc.example": {}}, {}, KNOWN, {})
    assert found.check == "vas_hadoop_container_executor"
    assert "climate, genomics" in found.what and "container-executor" in found.fix
    assert not examine_inventory(SITE, {GUEST: EXECUTOR}, {}, KNOWN, {})
    queues = [queue.model_copy(update={"users": ["yarn"]}) for queue in SITE.yarn.queues]
    yarn = SITE.yarn.model_copy(update={"queues": queues})
    assert not examine_inventory(SITE.model_copy(update={"yarn": yarn}), {GUEST: {}}, {}, KNOWN, {})


def test_users_that_a_site_adds_to_the_queues_count() -> None:
    queues = [queue.model_copy(update={"users": []}) for queue in SITE.yarn.queues]
    site = SITE.model_copy(update={"yarn": SITE.yarn.model_copy(update={"queues": queues})})
    added = {"vas_hadoop_users": ["ann"]}
    (found,) = examine_inventory(site, {GUEST: added}, {}, list(added), {})
    assert found.check == "vas_hadoop_container_executor" and "jobs of ann," in found.what
    assert not examine_inventory(site, {GUEST: {"vas_hadoop_users": ["yarn"]}}, {}, list(added), {})


def test_a_secret_is_no_property() -> None:
    named = {"ssl.server.keystore.password": "x", "yarn.webapp.ui2.enable": "true"}
    variables = EXECUTOR | {"vas_hadoop_properties": named}
    (found,) = examine_inventory(SITE, {GUEST: variables}, {}, list(variables), {})
    assert found.what == "ssl.server.keystore.password would be everybody's to read"
    assert "credential.provider" in found.fix


@pytest.mark.parametrize(("made", "taken", "agree"), [(True, False, False), (False, False, True)])
def test_server_and_guests_agree_on_virtual_functions(made: bool, taken: bool, agree: bool) -> None:
    variables = {
        "vas_storage_host_virtual_functions": made,
        "vas_guest_settings": {"virtual_function": taken},
    }
    found = examine_inventory(SITE, {OSS: variables}, {}, list(variables), {})
    assert [finding.check for finding in found] == (
        [] if agree else ["vas_storage_host_virtual_functions"]
    )


def test_a_lustre_that_is_to_be_installed_has_a_version_to_judge_it_by() -> None:
    variables: dict[str, object] = {
        "vas_lustre_client_repository": {"url": "https://x", "key": "y"},
        **EXECUTOR,
    }
    known = ["vas_lustre_client_repository", "vas_lustre_client_version", *EXECUTOR]

    def found() -> list[str]:
        return [f.check for f in examine_inventory(SITE, {GUEST: variables}, {}, known, {})]

    assert found() == ["vas_lustre_client_version"]
    variables["vas_lustre_client_version"] = "2.16.1"
    assert found() == []
