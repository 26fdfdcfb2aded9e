"""What `preflight` finds in the variables of a site, each with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_ansible.checks import LATER, UnreadableValue, examine_inventory
from vas_ansible.hadoop import AUTHENTICATION, LIMIT_USERS
from vas_cluster import Cluster, load_cluster

SITE = load_cluster(Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml")
OSS, GUEST = "oss01.hpc.example", "vas01.hpc.example"
PROGRAM = {"vas_hadoop_container_executor": "container-executor"}
# With Kerberos, without which containers do not run as their users.
EXECUTOR = PROGRAM | {"vas_hadoop_kerberos_realm": "X", "vas_hadoop_kerberos_keytabs": "keytabs"}
KNOWN = [
    "vas_hadoop_kerberos_keytabs",
    "vas_hadoop_properties",
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
        (
            "vas_guest_settings",
            {"acelerator": "qemu"},
            "acelerator: unknown key",
        ),
        ("vas_guest_settings", {"initrd": "initrd"}, 'initrd: "initrd" is not valid: '),
        (
            "vas_route_switcher_settings",
            {"probe_interval_ms": 1},
            "probe_interval_ms: 1 is less than ",
        ),
        (
            "vas_affinity_settings",
            {"moves_per_hour": "few"},
            'moves_per_hour: "few" is not an integer',
        ),
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


def test_of_a_value_that_needs_facts_the_name_alone_is_judged() -> None:
    later = {"vas_hadoop_container_executor": LATER, "vas_guest_settings": LATER, "vas_typo": LATER}
    known = ["vas_storage_host_virtual_functions", *later][:3]
    said = later | {"vas_storage_host_virtual_functions": False}
    (found,) = examine_inventory(SITE, {GUEST: said}, {}, known, {})
    assert found.check == "vas_typo"


@pytest.mark.parametrize(
    ("kind", "value", "what"),
    [
        ("dict", "mtu=1", "is not a dictionary"),
        ("list", 5, "is not a list"),
        ("list", "a", "is not a list"),
    ],
)
def test_what_ansible_would_leave_as_a_text_is_wrong(kind: str, value: object, what: str) -> None:
    options = {"vas_hadoop_users": {"type": kind, "page": "ansible/roles/hadoop/README.md"}}
    said = EXECUTOR | {"vas_hadoop_users": value}
    (found,) = examine_inventory(SITE, {GUEST: said}, options, list(EXECUTOR), {})
    assert found.what == what
    assert "write it as YAML" in found.fix


def test_a_word_that_is_no_boolean_is_said_without_ansibles_list_of_them() -> None:
    options = {"vas_guest_shutdown": {"type": "bool", "page": "ansible/roles/guest/README.md"}}
    said = EXECUTOR | {"vas_guest_shutdown": "maybe"}
    known = [*EXECUTOR, "vas_guest_shutdown"]
    (found,) = examine_inventory(SITE, {GUEST: said}, options, known, {})
    assert found.line().endswith(
        "vas_guest_shutdown: maybe is not true or false; see ansible/roles/guest/README.md"
    )


def test_a_suggestion_and_the_page_of_the_keys_are_one_sentence() -> None:
    said = {"vas_guest_settings": {"acelerator": "qemu"}}
    (found,) = examine_inventory(SITE, {OSS: said}, {}, ["vas_guest_settings"], {})
    assert found.fix == "did you mean accelerator? (its keys are in docs/guests.md)"


@pytest.mark.parametrize("said", [False, "false", "no"])
def test_a_text_that_says_false_is_false(said: object) -> None:
    variables = {
        **EXECUTOR,
        "vas_storage_host_virtual_functions": said,
        "vas_guest_settings": {"virtual_function": False},
    }
    assert not examine_inventory(SITE, {GUEST: variables}, {}, list(variables), {})


def test_the_command_line_of_an_image_s_own_kernel() -> None:
    """The role `guest` adds the kernel."""
    variables = EXECUTOR | {"vas_guest_settings": {"kernel_command_line": "root=/dev/vda rw"}}
    assert not examine_inventory(SITE, {GUEST: variables}, {}, list(variables), {})


def test_S1_containers_run_as_their_users_only_where_kerberos_says_who_they_are() -> None:
    (found,) = examine_inventory(SITE, {GUEST: PROGRAM}, {}, KNOWN, {})
    assert found.check == "vas_hadoop_kerberos_realm"
    assert "whoever reaches the ResourceManager runs programs as any user" in found.what
    assert "yarn.trusts_every_user" in found.fix
    assert not examine_inventory(SITE, {GUEST: EXECUTOR}, {}, KNOWN, {})


def trusting(site: Cluster) -> Cluster:
    """The same site, whose map says why users are believed."""
    yarn = site.yarn.model_copy(update={"trusts_every_user": "one research group, no secrets"})
    return site.model_copy(update={"yarn": yarn})


def test_S1_a_reason_in_the_map_is_taken_in_place_of_kerberos() -> None:
    assert not examine_inventory(trusting(SITE), {GUEST: PROGRAM}, {}, KNOWN, {})


@pytest.mark.parametrize(
    ("variables", "key", "refused"),
    [
        (PROGRAM, LIMIT_USERS, True),
        ({}, LIMIT_USERS, True),
        (EXECUTOR, LIMIT_USERS, False),
        (EXECUTOR, AUTHENTICATION, True),
    ],
)
def test_S1_a_property_of_the_site_s_own_does_not_take_that_back(
    variables: dict[str, object], key: str, refused: bool
) -> None:
    own = {"vas_hadoop_properties": {key: "simple" if key == AUTHENTICATION else "false"}}
    found = examine_inventory(SITE, {GUEST: variables | own}, {}, KNOWN, {})
    assert ("vas_hadoop_properties" in [finding.check for finding in found]) is refused


@pytest.mark.parametrize(
    ("why", "fix"),
    [
        ("Unable to access the file '/root/.ssh/id_ed25519.pub': File not found", "ssh-keygen"),
        ("'nowhere' is not a lookup plugin", "correct the expression"),
    ],
)
def test_a_value_that_cannot_be_computed_is_one_finding_of_all(why: str, fix: str) -> None:
    """A missing key would otherwise stop the checks of machines, with Ansible's own words alone."""
    variables = EXECUTOR | {"vas_guest_settings": UnreadableValue(why), "vas_typo": 1}
    found = examine_inventory(SITE, {GUEST: variables}, {}, [*KNOWN, "vas_guest_settings"], {})
    assert [one.check for one in found] == ["vas_typo", "vas_guest_settings"]
    assert found[1].what == f"has no value: {why}"
    assert fix in found[1].fix
