"""A site's Hadoop configuration."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from modules import load

from vas_ansible.hadoop import LIMIT_USERS, PROGRAMS, Choices, site_files
from vas_ansible.readme import ROLES, defaults_of
from vas_cluster import load_cluster
from vas_core.errors import BadInput
from vas_core.process import run
from vas_yarn.lint.rules import contradictions
from vas_yarn.site_files import as_mapping
from vas_yarn.site_services import JOBID
from vas_yarn.submit.master import why_not

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
SITE = load_cluster(EXAMPLE)


def properties(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {p.findtext("name", ""): p.findtext("value", "") for p in root}


def test_a_guest_gives_yarn_what_it_does_not_need_itself() -> None:
    files = site_files(SITE, "vas01.hpc.example", Choices(reserved="4GiB"))
    assert sorted(files) == [
        "core-site.xml",
        "hdfs-site.xml",
        "mapred-site.xml",
        "yarn-site.xml",
    ]
    yarn = properties(files["yarn-site.xml"])
    assert yarn["yarn.nodemanager.resource.memory-mb"] == str(60 * 1024)
    assert yarn["yarn.nodemanager.resource.cpu-vcores"] == "16"
    assert yarn["yarn.resourcemanager.hostname"] == "yarn-rm.hpc.example"
    assert yarn["yarn.acl.enable"] == "true"


@pytest.mark.parametrize("node", ["vas01.hpc.example", "yarn-rm.hpc.example"])
def test_a_container_may_have_all_of_the_largest_guest(node: str) -> None:
    yarn = properties(site_files(SITE, node, Choices(reserved="4GiB"))["yarn-site.xml"])
    assert yarn["yarn.scheduler.maximum-allocation-mb"] == str(60 * 1024)
    assert yarn["yarn.scheduler.maximum-allocation-vcores"] == "16"


def test_the_queues_are_the_manager_s_alone() -> None:
    queues = properties(
        site_files(SITE, "yarn-rm.hpc.example", Choices())["capacity-scheduler.xml"]
    )
    key = "yarn.scheduler.capacity.root.production.acl_submit_applications"
    assert queues[key] == "genomics,climate"
    assert queues["yarn.scheduler.capacity.root.acl_administer_queue"] == " "


def test_the_manager_alone_has_no_nodemanager() -> None:
    yarn = properties(site_files(SITE, "yarn-rm.hpc.example", Choices())["yarn-site.xml"])
    assert "yarn.nodemanager.resource.memory-mb" not in yarn
    assert yarn["yarn.resourcemanager.recovery.enabled"] == "true"


def test_vas_submit_finds_the_application_master_on_every_node(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    with zipfile.ZipFile(tmp_path / "plugins/vas-yarn-plugins-0.1.0.jar", "w") as jar:
        jar.writestr("org/vas/app/VasAppMaster.class", b"")
    for node in ("yarn-rm.hpc.example", "vas01.hpc.example"):
        yarn = properties(site_files(SITE, node, Choices())["yarn-site.xml"])
        class_path = yarn["yarn.application.classpath"].replace(PROGRAMS, str(tmp_path))
        assert why_not(as_mapping({"yarn.application.classpath": class_path})) is None


def test_the_site_has_the_last_word() -> None:
    choices = Choices(properties={"yarn.webapp.ui2.enable": "true"})
    yarn = properties(site_files(SITE, "vas01.hpc.example", choices)["yarn-site.xml"])
    assert yarn["yarn.webapp.ui2.enable"] == "true"


def test_a_guest_without_memory_for_containers_is_refused() -> None:
    with pytest.raises(BadInput, match=r"vas01.*64GiB less 64GiB.*vas_hadoop_reserved"):
        site_files(SITE, "vas01.hpc.example", Choices(reserved="64GiB"))


def test_containers_run_as_their_users_with_the_setuid_program_only() -> None:
    plain, secure = (
        properties(site_files(SITE, "vas01.hpc.example", choices)["yarn-site.xml"])
        for choices in (Choices(), Choices(executor=True, realm="HPC.EXAMPLE"))
    )
    key = "yarn.nodemanager.container-executor.class"
    assert key not in plain
    assert secure[key].endswith(".LinuxContainerExecutor")
    assert secure["yarn.nodemanager.principal"] == "nm/_HOST@HPC.EXAMPLE"


def test_containers_have_groups_beside_the_nodemanager_s_leaf() -> None:
    """Of cgroups v2: the unit of the role puts the daemon into a leaf of the same group."""
    choices = Choices(executor=True)
    yarn = properties(site_files(SITE, "vas01.hpc.example", choices)["yarn-site.xml"])
    prefix = "yarn.nodemanager.linux-container-executor.cgroups"
    role = yaml.safe_load((ROLES / "hadoop/vars/main.yml").read_text())
    assert yarn[f"{prefix}.hierarchy"] == role["__vas_hadoop_group"]
    assert yarn[f"{prefix}.v2.enabled"] == "true"
    without = site_files(SITE, "vas01.hpc.example", Choices())["yarn-site.xml"]
    assert "container-executor" not in without
    assert not {key for key in properties(without) if key.startswith(prefix)}


@pytest.mark.parametrize("kind", ["profiles", "jvms"])
def test_the_talk_s_values_contradict_nothing_and_are_no_default(kind: str) -> None:
    role = yaml.safe_load((ROLES / "hadoop/vars/main.yml").read_text())
    talk = role[f"__vas_hadoop_{kind}"]["talk"]
    assert contradictions(as_mapping({key: str(value) for key, value in talk.items()}), None) == []
    assert role[f"__vas_hadoop_{kind}"]["none"] == {}
    assert defaults_of(ROLES / "hadoop")[f"vas_hadoop_{kind.removesuffix('s')}"] != "talk"


def test_a_sort_buffer_as_the_talk_has_it_is_found() -> None:
    talk = yaml.safe_load((ROLES / "hadoop/vars/main.yml").read_text())["__vas_hadoop_jvms"]["talk"]
    wrong = {key: str(value) for key, value in talk.items()} | {"mapreduce.task.io.sort.mb": "1024"}
    assert contradictions(as_mapping(wrong), None)


@pytest.mark.parametrize(
    ("realm", "reason", "limited"),
    [("", None, None), ("HPC.EXAMPLE", None, None), ("", "one group", "false")],
)
def test_S1_hadoop_believes_names_only_where_the_map_says_why(
    realm: str, reason: str | None, limited: str | None
) -> None:
    """Left out it is Hadoop's default, one user for all, which Kerberos makes meaningless."""
    yarn = SITE.yarn.model_copy(update={"trusts_every_user": reason})
    site = SITE.model_copy(update={"yarn": yarn})
    files = site_files(site, "vas01.hpc.example", Choices(executor=True, realm=realm))
    assert properties(files["yarn-site.xml"]).get(LIMIT_USERS) == limited


@pytest.mark.parametrize(
    ("written", "property_"),
    [
        ("vas.containers.reuse: off", ("vas.containers.reuse", "off")),
        ("vas.containers.reuse: on", ("vas.containers.reuse", "on")),
        ("vas.shuffle.enabled: false", ("vas.shuffle.enabled", "false")),
        ("vas.placement.enabled: no", ("vas.placement.enabled", "false")),
    ],
)
def test_a_switch_is_hadoops_word_however_yaml_reads_it(
    written: str, property_: tuple[str, str]
) -> None:
    made = load("filter/vas_configuration.py").vas_configuration(
        EXAMPLE, "vas01.hpc.example", plugins=True, properties=yaml.safe_load(written)
    )
    found: dict[str, str] = {}
    for text in made.values():
        found |= properties(text)
    assert found[property_[0]] == property_[1]


@pytest.mark.machine
@pytest.mark.parametrize("epoch", ["", "e17_"])
@pytest.mark.parametrize("number", ["0001", "123456"])
def test_a_container_s_environment_names_its_application_to_lustre(epoch: str, number: str) -> None:
    """As bash expands what the NodeManager writes, each variable after those that it names."""
    yarn = properties(site_files(SITE, "vas01.hpc.example", Choices())["yarn-site.xml"])
    prefix = "yarn.nodemanager.admin-env."
    own = {k.removeprefix(prefix): v for k, v in yarn.items() if k.startswith(prefix)}
    ordered = ("VAS_APPLICATION", "VAS_CLUSTER_TIME", "VAS_JOBID")
    script = "".join(f'export {name}="{own.pop(name)}"\n' for name in ordered)
    assert own == {}
    container = f"container_{epoch}1700000000000_{number}_01_000002"
    found = run(["bash", "-euc", f"{script}echo $VAS_JOBID"], env={"CONTAINER_ID": container})
    assert found.stdout == f"app_1700000000000_{number}\n"
    assert len(found.stdout.strip()) <= 31, "what Lustre keeps of a name"


def test_the_role_tells_lustre_the_variable_that_containers_have() -> None:
    assert defaults_of(ROLES / "lustre_client")["vas_lustre_client_jobid"] == JOBID
