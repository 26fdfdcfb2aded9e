"""The history of jobs of two real users: masters that are theirs, a history server that is mapred.

The directories are the role's own, made by Ansible. A NodeManager is its user's for the length of a
job, as no setuid program is here: then the job's master is a process of that user too.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from jinja2 import Template

from vas_ansible.hadoop import Choices, site_files
from vas_cluster import parse_cluster
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_lab.enter import into_lab
from vas_lab.procfs import children
from vas_lab.sites import lab_site
from vas_lab.spec import find_java
from vas_yarn.jars import find_hadoop, find_plugins

pytestmark = [
    *(pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)),
    pytest.mark.skipif(os.geteuid() != 0, reason="users of its own need root"),
]
MOUNT = "/var/scratch"
USERS = ("ann", "bob")
# $1: an empty directory; $2: what is to be in the copies; $3 to $5: Java, Hadoop, the plugins.
SET_UP = f"""
umask 022
ip link set lo up
hostname rm
mount -t tmpfs tmpfs "$1"
for top in etc usr var; do
    mkdir "$1/$top" "$1/$top-work"
    mount -t overlay overlay -o "lowerdir=/$top,upperdir=$1/$top,workdir=$1/$top-work" "/$top"
done
chmod -R go=rX "$2"
cp -r "$2"/. /
printf '%s\\n' yarn:x:860:862::/var/lib/yarn:/bin/sh mapred:x:861:862::/tmp:/bin/sh \\
    ann:x:7001:7001::/tmp:/bin/sh bob:x:7002:7002::/tmp:/bin/sh >>/etc/passwd
printf '%s\\n' hadoop:x:862: ann:x:7001: bob:x:7002: >>/etc/group
mkdir -p /var/lib/yarn /var/log/yarn {MOUNT}
chmod 1777 /var/lib/yarn /var/log/yarn
mount -t tmpfs -o mode=0755 tmpfs {MOUNT}
ln -s "$3" /usr/lib/vas/java
# Copies, not links: the clone may be closed to these users, and so may each of its files.
mkdir /usr/lib/vas/plugins
cp -rL "$4" /usr/lib/vas/hadoop
cp "$5" /usr/lib/vas/plugins/
chmod -R go=rX /usr/lib/vas
echo ready
exec sleep infinity >/dev/null
"""
PLAY = f"""
- hosts: rm
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: hadoop
        tasks_from: directories.yml
      vars:
        vas_cluster: {{lustre: {{mount: {MOUNT}}}}}
        vas_hadoop_users: [{", ".join(USERS)}]
"""
PROPERTIES = {
    "vas.layout.required": "false",
    "yarn.log-aggregation-enable": "false",
    "mapreduce.jobhistory.move.interval-ms": "2000",
    "yarn.app.mapreduce.am.resource.mb": "512",
    "yarn.app.mapreduce.am.command-opts": "-Xmx300m",
    "mapreduce.map.memory.mb": "256",
    "mapreduce.reduce.memory.mb": "256",
    "mapreduce.map.java.opts": "-Xmx180m",
    "mapreduce.reduce.java.opts": "-Xmx180m",
    "mapreduce.task.io.sort.mb": "16",
    "yarn.scheduler.minimum-allocation-mb": "128",
    "yarn.resourcemanager.nodes.exclude-path": "",
}
SERVER = "org.apache.hadoop.yarn.server"


@dataclass(frozen=True)
class Machine:
    """The namespaces in which all daemons run."""

    holder: int
    directory: Path

    def enter(self, *argv: str) -> list[str]:
        return [*into_lab(self.holder, False), *argv]

    def as_user(self, user: str, *argv: str) -> Completed:
        return run(self.enter("runuser", "-u", user, "--", *argv), check=False)

    @contextmanager
    def daemon(self, user: str, name: str) -> Iterator[None]:
        words = self.enter("runuser", "-u", user, "--", "/usr/lib/vas/hadoop.sh", name)
        log = self.directory / f"{name.rpartition('.')[2]}-{user}.log"
        with log.open("wb") as output:
            # A umask as the units have it.
            argv = ["sh", "-c", 'umask 027; exec "$@"', "sh", *words]
            process = subprocess.Popen(argv, stdout=output, stderr=output)
            try:
                yield
                assert process.poll() is None, log.read_text()[-4000:]
            finally:
                # Its nsenter would leave it alone; only this test's processes are in there.
                run(self.enter("pkill", "-KILL", "-u", user, "-f", name), check=False)
                process.wait(60)

    def asked(self, url: str) -> dict[str, object]:
        program = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
        said = run(self.enter("python3", "-c", program, url), check=False)
        return dict(json.loads(said.stdout or "{}")) if said.status == 0 else {}

    def play(self, text: str) -> Completed:
        shell = self.directory / "sh"
        shell.write_text(f'#!/bin/sh\nexec {shlex.join(self.enter("/bin/sh"))} "$@"\n')
        shell.chmod(0o755)
        local = {"ansible_connection": "local", "ansible_shell_executable": str(shell)}
        local |= {"ansible_python_interpreter": "/usr/bin/python3"}
        groups = {"vas_resourcemanager": {"hosts": {"rm": local}}, "vas_guests": {"hosts": {}}}
        (self.directory / "hosts.yml").write_text(json.dumps({"all": {"children": groups}}))
        (self.directory / "play.yml").write_text(text)
        argv = ["env", "-C", str(REPOSITORY / "ansible")]
        argv += [str(Path(sys.executable).with_name("ansible-playbook"))]
        argv += ["-i", str(self.directory / "hosts.yml"), str(self.directory / "play.yml")]
        return run(argv, check=False)


def files(directory: Path) -> None:
    """What the site's machine has; its NodeManager is that of the first guest."""
    site = lab_site(1)
    site["lustre"]["mount"] = MOUNT
    cluster = parse_cluster(yaml.safe_dump(site), "site")
    (guest,) = [guest.name for guest in cluster.guests()]
    template = REPOSITORY / "ansible/roles/hadoop/templates/hadoop.sh.j2"
    names = {"directory": "/usr/lib/vas", "configuration": "/etc/vas/hadoop"}
    hadoop = Template(template.read_text()).render(
        {f"__vas_hadoop_{name}": path for name, path in names.items()}
    )
    made = {
        "etc/hosts": f"127.0.0.1 rm {guest} localhost\n",
        "etc/vas/cluster.yaml": yaml.safe_dump(site),
        "usr/lib/vas/log4j.properties": (
            REPOSITORY / "vm-images/guest/mkosi.extra/usr/lib/vas/log4j.properties"
        ).read_text(),
        "usr/lib/vas/hadoop.sh": hadoop,
    }
    choices = Choices(reserved="64MiB", properties=PROPERTIES)
    found = site_files(cluster, guest, choices)
    queues = site_files(cluster, "rm", choices)["capacity-scheduler.xml"]
    found["capacity-scheduler.xml"] = queues
    made |= {f"etc/vas/hadoop/{name}": text for name, text in found.items()}
    for name, text in made.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (directory / "usr/lib/vas/hadoop.sh").chmod(0o755)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    directory = tmp_path_factory.mktemp("history")
    (directory / "writes").mkdir()
    files(directory / "files")
    own = ["--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words = [directory / "writes", directory / "files", find_java(), find_hadoop(), find_plugins()]
    argv = ["unshare", *own, "--", "sh", "-euc", SET_UP, "sh", *map(str, words)]
    holder = subprocess.Popen(argv, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"ready\n"
        yield Machine(children(Root(), holder.pid)[0], directory)
    finally:
        holder.kill()
        holder.wait()


@pytest.fixture(scope="module")
def history(machine: Machine) -> Iterator[Machine]:
    """The role's directories, a ResourceManager and a JobHistoryServer."""
    done = machine.play(PLAY)
    assert done.status == 0, done.stdout[-4000:]
    manager = f"{SERVER}.resourcemanager.ResourceManager"
    with (
        machine.daemon("yarn", manager),
        machine.daemon("mapred", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"),
    ):
        for url in ("http://rm:8088/ws/v1/cluster/info", f"{JOBS}bob"):
            poll(lambda url=url: machine.asked(url), bool, 120.0, url)  # type: ignore[misc]
        yield machine


JOBS = "http://rm:19888/ws/v1/history/mapreduce/jobs?user="


def run_job(machine: Machine, user: str) -> Completed:
    """A job of one map, on a NodeManager that is the user's."""
    running = "http://rm:8088/ws/v1/cluster/nodes?states=RUNNING"
    clean = "rm -rf /var/lib/yarn/local /var/log/yarn/containers /var/lib/yarn/temporary"
    machine.as_user("root", "sh", "-c", clean)
    with machine.daemon(user, f"{SERVER}.nodemanager.NodeManager"):
        poll(lambda: machine.asked(running).get("nodes"), bool, 90.0, "a node")
        jar = "exec hadoop_sh org.apache.hadoop.util.RunJar"
        jar = jar.replace("hadoop_sh", "/usr/lib/vas/hadoop.sh")
        words = "/usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar pi 1 10"
        return machine.as_user(user, "sh", "-c", f"{jar} {words}")


def jobs(machine: Machine, user: str) -> list[dict[str, str]]:
    listed = machine.asked(JOBS + user).get("jobs") or {}
    assert isinstance(listed, dict)
    found = listed.get("job", [])
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("user", USERS)
def test_H3_the_history_server_reads_what_a_user_s_master_wrote(
    history: Machine, user: str
) -> None:
    done = run_job(history, user)
    assert done.status == 0 and "Estimated value of Pi is" in done.stdout, done.stderr[-4000:]
    (job,) = poll(lambda: jobs(history, user), bool, 90.0, f"{user}'s job in the history")
    assert (job["user"], job["state"]) == (user, "SUCCEEDED")
    details = history.asked(f"http://rm:19888/ws/v1/history/mapreduce/jobs/{job['id']}/counters")
    assert "jobCounters" in details
    base = f"{MOUNT}/yarn/staging/history"
    between = f"{base}/done_intermediate/{user}"
    poll(
        lambda: history.as_user("root", "ls", "-A", between).stdout,
        lambda left: not left,
        60.0,
        "the history to be moved",
    )
    owner = history.as_user("root", "stat", "-c", "%U %G %a", between).stdout.split()
    assert owner == [user, "hadoop", "2770"]


def test_H3_a_user_does_not_see_another_one_s_history(history: Machine) -> None:
    for place in ("staging/history/done_intermediate/ann", "staging/history/done", "staging/ann"):
        assert history.as_user("bob", "ls", f"{MOUNT}/yarn/{place}").status != 0, place


def files_of(machine: Machine, user: str, *words: str) -> Completed:
    fs = "/usr/lib/vas/hadoop.sh org.apache.hadoop.fs.FsShell"
    return machine.as_user(user, "sh", "-c", f"umask 027; exec {fs} {shlex.join(words)}")


def test_H3_a_user_reads_the_logs_that_nodemanagers_wrote_and_nobody_else_s(
    machine: Machine,
) -> None:
    """By the plugins' file system, as NodeManagers make a job's directory and its file."""
    assert machine.play(PLAY).status == 0
    directory = "/yarn/logs/ann/bucket-logs-tfile/0001/application_1_0001"
    made: Sequence[Sequence[str]] = (
        ("-mkdir", "-p", directory),
        ("-chmod", "-R", "770", "/yarn/logs/ann/bucket-logs-tfile"),
        ("-put", "-d", "/etc/hosts", f"{directory}/vm1_8041"),
        ("-chmod", "640", f"{directory}/vm1_8041"),
    )
    for words in made:
        done = files_of(machine, "yarn", *words)
        assert done.status == 0, done.stderr
    for user, status in (("ann", 0), ("mapred", 0), ("bob", 1)):
        assert files_of(machine, user, "-cat", f"{directory}/vm1_8041").status == status, user
    assert files_of(machine, "ann", "-rm", f"{directory}/vm1_8041").status != 0


def test_H3_a_second_run_of_the_role_changes_nothing(machine: Machine) -> None:
    machine.play(PLAY)
    assert "changed=0" in machine.play(PLAY).stdout
