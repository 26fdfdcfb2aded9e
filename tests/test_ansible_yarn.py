"""YARN as the role `hadoop` makes it: a job runs, queues change, containers' users come and go."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.process import run
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.cycle import play_role, role_playbook
from vas_tests.hosts.lustre import shared_directory
from vas_tests.hosts.yarn import asked, running_nodes

_LACKS = [p for p in ("gcc", "mmdebstrap", "ssh", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
Variables = dict[str, object]
_YARN = "vas_guests:vas_resourcemanager"
_QUEUE = "yarn.scheduler.capacity.root"
# A job of one small map, in containers of the guest's 2 GiB.
_JOB = (
    *("-Dyarn.app.mapreduce.am.resource.mb=1024", "-Dyarn.app.mapreduce.am.command-opts=-Xmx400m"),
    *("-Dmapreduce.map.memory.mb=1024", "-Dmapreduce.reduce.memory.mb=1024"),
    *("-Dmapreduce.map.java.opts=-Xmx300m", "-Dmapreduce.reduce.java.opts=-Xmx300m"),
    *("-Dmapreduce.task.io.sort.mb=32", "1", "10"),
)
# In place of Hadoop's, which no registry has: it makes the same checks, and starts nothing.
_PROGRAM = Path(__file__).with_name("vas_tests") / "container_executor.c"
# There are no controllers in these hosts' control groups.
_WITHOUT_SHARES = {
    "yarn.nodemanager.resource.cpu.enabled": "false",
    "yarn.nodemanager.resource.memory.enabled": "false",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with (
        shared_directory() as scratch,
        site_of_hosts(directory, ("vm1", "rm1"), mounts={"/scratch": scratch}) as made,
    ):
        for host in made.hosts.values():
            host.run("sh", "-c", "printf '10.213.0.21 vm1\\n10.213.0.31 rm1\\n' >>/etc/hosts")
            # A disk of the site's for what jobs leave meanwhile.
            host.run("mkdir", "/var/lib/yarn")
            host.run("mount", "-t", "tmpfs", "tmpfs", "/var/lib/yarn")
        yield made


@pytest.fixture(scope="module")
def variables(archives: Variables) -> Variables:
    # The map's queues name nobody, and containers run as yarn.
    own: Variables = {"vas_hadoop_users": ["yarn"]}
    # The program `vas`, which builds the archive of classes, is not on these hosts.
    own |= {"vas_hadoop_class_archive": False}
    return archives | own | {"vas_hadoop_properties": {"vas.layout.required": "false"}}


@pytest.fixture(scope="module")
def yarn(site: Site, variables: Variables) -> Iterator[Site]:
    """The role in force; afterwards both machines are as they were before."""
    _has_the_map(site)
    left = ("/scratch", "/var/lib/yarn")
    before = {name: look(host, left) for name, host in site.hosts.items()}
    play_role(site, "hadoop", _YARN, variables)
    poll(lambda: running_nodes(site), lambda names: names == ["vm1"], 120.0, "the guest in YARN")
    yield site
    play_role(site, "hadoop", _YARN, variables | {"vas_hadoop_state": "absent"})
    for name, host in site.hosts.items():
        assert differences(before[name], look(host, left)) == "", name
        assert host.run("mountpoint", "-q", "/var/lib/yarn", check=False).status == 0


def _has_the_map(site: Site) -> None:
    for host in site.hosts.values():
        host.run("install", "-d", "-m", "0755", "/etc/vas")
        words = ("install", "-m", "0644", "/dev/stdin", "/etc/vas/cluster.yaml")
        host.run(*words, stdin=site.map.read_text())


def test_its_users_have_the_same_numbers_everywhere(yarn: Site) -> None:
    for host in yarn.hosts.values():
        assert host.run("id", "-u", "yarn").stdout.strip() == "860"
        assert host.run("id", "-u", "mapred").stdout.strip() == "861"
        assert host.run("id", "-G", "yarn").stdout.split() == ["860", "862"]


def test_a_job_runs(yarn: Site) -> None:
    rm1 = yarn.hosts["rm1"]
    for name, owner in (("staging", "mapred"), ("logs", "yarn")):
        assert rm1.run("stat", "-c", "%U", f"/scratch/yarn/{name}").stdout.strip() == owner
    shell = (
        f"exec hadoop jar /usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar pi {' '.join(_JOB)}"
    )
    done = rm1.run("runuser", "-u", "yarn", "--", "sh", "-c", shell, check=False)
    assert "Estimated value of Pi is" in done.stdout, done.stdout + done.stderr
    apps = json.loads(asked(yarn, "http://rm1:8088/ws/v1/cluster/apps"))["apps"]["app"]
    assert [app["finalStatus"] for app in apps] == ["SUCCEEDED"]


def test_a_container_s_environment_names_its_application_to_lustre(yarn: Site) -> None:
    """By Hadoop's streaming, whose mapper prints its environment."""
    rm1 = yarn.hosts["rm1"]
    rm1.run("install", "-d", "-o", "yarn", "-m", "0755", "/scratch/named")
    rm1.run("install", "-o", "yarn", "-m", "0644", "/dev/stdin", "/scratch/named/in", stdin="x\n")
    own = ("-Dmapreduce.job.reduces=0", "-Dmapreduce.job.maps=1")
    files = ("-input", "/named/in", "-output", "/named/out", "-mapper", "/usr/bin/env")
    words = " ".join((*_JOB[:-2], *own, *files))
    shell = f"exec hadoop jar /usr/lib/vas/hadoop/hadoop-streaming-*.jar {words}"
    done = rm1.run("runuser", "-u", "yarn", "--", "sh", "-c", shell, check=False)
    assert done.status == 0, done.stdout + done.stderr
    printed = rm1.run("cat", "/scratch/named/out/part-00000").stdout
    found = dict(line.partition("=")[::2] for line in printed.splitlines())
    job = found["mapreduce_job_id"].removeprefix("job_")
    assert found["VAS_JOBID"].strip() == f"app_{job}".strip()


def test_H8_a_job_writes_into_a_directory_that_a_group_shares(yarn: Site) -> None:
    """Under the unit's own sandbox, by systemd itself: containers inherit it."""
    rm1 = yarn.hosts["rm1"]
    rm1.run("install", "-d", "-o", "root", "-g", "hadoop", "-m", "2775", "/scratch/shared")
    words = " ".join((*_JOB[:-2], "-Dmapreduce.job.maps=1", "100", "/shared/out"))
    shell = f"exec hadoop jar /usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar teragen {words}"
    done = rm1.run("runuser", "-u", "yarn", "--", "sh", "-c", shell, check=False)
    assert done.status == 0, done.stdout + done.stderr
    made = rm1.run("stat", "-c", "%a %G", "/scratch/shared/out").stdout.split()
    assert (made[0][0], made[1]) == ("2", "hadoop")


def test_H3_the_history_has_what_the_user_s_master_wrote(yarn: Site) -> None:
    """The JobHistoryServer is mapred, and its user is not: the group has to be handed down."""
    history = "http://rm1:19888/ws/v1/history/mapreduce/jobs?user=yarn"
    poll(
        lambda: json.loads(asked(yarn, history))["jobs"],
        bool,
        120.0,
        "the jobs in the history",
    )


def _queues(site: Site) -> list[str]:
    found = json.loads(asked(site, "http://rm1:8088/ws/v1/cluster/scheduler"))
    queues = found["scheduler"]["schedulerInfo"]["queues"]["queue"]
    return sorted(queue["queueName"] for queue in queues)


def _first_started(site: Site) -> str:
    shown = ("show", "--property=ActiveEnterTimestampMonotonic", "vas-resourcemanager")
    return site.hosts["rm1"].run("systemctl", *shown).stdout


def test_queues_change_without_a_restart_and_what_yarn_refuses_is_taken_back(
    yarn: Site, variables: Variables
) -> None:
    started = _first_started(yarn)
    own = {"vas.layout.required": "false", f"{_QUEUE}.queues": "default,night"}
    own |= {f"{_QUEUE}.default.capacity": "60", f"{_QUEUE}.night.capacity": "40"}
    two = variables | {"vas_hadoop_properties": own}
    assert play_role(yarn, "hadoop", _YARN, two).changed == {"rm1": 3, "vm1": 0}
    assert _queues(yarn) == ["default", "night"]
    assert play_role(yarn, "hadoop", _YARN, two).changes() == 0

    for _ in range(2):
        refused = yarn.play(role_playbook(yarn, "hadoop", _YARN), variables, check=False)
        assert "refuses the new queues" in refused.text
        assert (
            "night" in yarn.hosts["rm1"].run("cat", "/etc/vas/hadoop/capacity-scheduler.xml").stdout
        )
    stopped = {"vas_hadoop_properties": own | {f"{_QUEUE}.night.state": "STOPPED"}}
    play_role(yarn, "hadoop", _YARN, variables | stopped)
    play_role(yarn, "hadoop", _YARN, variables)
    assert _queues(yarn) == ["default"]
    assert _first_started(yarn) == started
    assert yarn.hosts["rm1"].run("sh", "-c", "ls /etc/vas/hadoop/*~", check=False).status != 0


def test_containers_users_come_and_go(yarn: Site, variables: Variables, tmp_path: Path) -> None:
    vm1 = yarn.hosts["vm1"]
    program = tmp_path / "container-executor"
    run(["gcc", "-static", "-O1", "-o", program, _PROGRAM], timeout_seconds=60)
    before = look(vm1, ("/scratch", "/var/lib/yarn"))
    own = {"vas.layout.required": "false"} | _WITHOUT_SHARES
    executor = {"vas_hadoop_container_executor": str(program), "vas_hadoop_properties": own}
    play_role(yarn, "hadoop", "vas_guests", variables | executor)
    assert play_role(yarn, "hadoop", "vas_guests", variables | executor).changes() == 0
    there = vm1.run("stat", "-c", "%a %U %G", "/usr/lib/vas/container-executor").stdout
    assert there.split() == ["6050", "root", "hadoop"]
    main = vm1.run("systemctl", "show", "--value", "--property=MainPID", "vas-nodemanager").stdout
    group = vm1.run("cat", f"/proc/{main.strip()}/cgroup").stdout.strip()
    assert group.endswith("/system.slice/vas-nodemanager.service/daemon")
    assert "LinuxContainerExecutor" in asked(yarn, "http://vm1:8042/conf")
    # It could become root: the NodeManager would have ended by what `--checksetup` answered.
    state = vm1.run("systemctl", "show", "--value", "--property=NRestarts", "vas-nodemanager")
    assert state.stdout.strip() == "0"

    play_role(yarn, "hadoop", "vas_guests", variables)
    assert differences(before, look(vm1, ("/scratch", "/var/lib/yarn"))) == ""
    assert "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor" in asked(
        yarn, "http://vm1:8042/conf"
    )
    poll(lambda: running_nodes(yarn), lambda names: names == ["vm1"], 120.0, "the guest in YARN")
