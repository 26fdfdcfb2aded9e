"""The role `drain` in Hadoop's secure mode: a KDC, a ResourceManager configured as by `hadoop`,
and the role's own commands.

Files are where a site has them, in namespaces whose /etc, /usr and /var are copies on write.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
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
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import find_java
from vas_yarn.jars import find_hadoop, find_plugins

MIT = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
pytestmark = [
    *(pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(600)),
    pytest.mark.skipif(
        not all(map(shutil.which, MIT)),
        reason="no krb5-kdc, krb5-admin-server and krb5-user (with /usr/sbin on PATH)",
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="its user yarn needs root"),
]

PROGRAMS = Path(sys.executable).parent
REALM = "SITE.TEST"
KRB5 = f"""[libdefaults]
default_realm = {REALM}
dns_lookup_kdc = false
rdns = false
dns_canonicalize_hostname = false
[realms]
{REALM} = {{
 kdc = 127.0.0.1:88
}}
"""
KDC = f"""[kdcdefaults]
kdc_listen = 127.0.0.1:88
kdc_tcp_listen = 127.0.0.1:88
[realms]
{REALM} = {{
 database_name = /etc/kdc/principal
 key_stash_file = /etc/kdc/stash
}}
"""
# An application that asks for nothing: whom the manager takes for its owner is printed.
SUBMIT = """
import java.util.Collections;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
public class Submit {
  public static void main(String[] words) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    YarnClient client = YarnClient.createYarnClient();
    client.init(conf);
    client.start();
    ApplicationSubmissionContext made =
        client.createApplication().getApplicationSubmissionContext();
    made.setApplicationName("forged");
    made.setQueue("default");
    made.setResource(Resource.newInstance(128, 1));
    made.setAMContainerSpec(ContainerLaunchContext.newInstance(Collections.emptyMap(),
        Collections.emptyMap(), Collections.singletonList("true"), null, null, null));
    ApplicationId id = client.submitApplication(made);
    System.out.println("OWNER " + client.getApplicationReport(id).getUser());
    System.exit(0);
  }
}
"""
# $1: an empty directory; $2: what is to be in the copies; $3 to $5: Java, Hadoop, the plugins.
SET_UP = """
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
echo 'yarn:x:870:870::/var/lib/yarn:/bin/sh' >>/etc/passwd
echo 'yarn:x:870:' >>/etc/group
for user in ann:7001 bob:7002; do
    echo "${user%:*}:x:${user#*:}:${user#*:}::/tmp:/bin/sh" >>/etc/passwd
    echo "${user%:*}:x:${user#*:}:" >>/etc/group
done
mkdir -p /var/lib/yarn /var/log/yarn
ln -s "$3" /usr/lib/vas/java
# Copies, not links: the clone may be closed to these users, and so may each of its files.
mkdir /usr/lib/vas/plugins
cp -rL "$4" /usr/lib/vas/hadoop
cp "$5" /usr/lib/vas/plugins/
chmod -R go=rX /usr/lib/vas
kdb5_util create -s -r SITE.TEST -P a-test >/dev/null
kadmin.local -q 'addprinc -randkey rm/rm' >/dev/null
kadmin.local -q 'ktadd -k /etc/vas/hadoop/rm.keytab rm/rm' >/dev/null
for user in ann bob; do
    kadmin.local -q "addprinc -randkey $user" >/dev/null
    kadmin.local -q "ktadd -k /etc/kdc/$user.keytab $user" >/dev/null
    chown $user: /etc/kdc/$user.keytab
done
chmod 0755 /etc/kdc
chown -R yarn: /var/lib/yarn /var/log/yarn /etc/vas/hadoop/rm.keytab
chmod 0400 /etc/vas/hadoop/rm.keytab
echo ready
exec sleep infinity >/dev/null
"""
PLAY = """
- hosts: rm
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: drain
        tasks_from: refresh.yml
      vars:
        __vas_drain_words: []
"""


@dataclass(frozen=True)
class Manager:
    """The namespaces in which a ResourceManager runs, and a directory for what enters them."""

    holder: int
    directory: Path

    def enter(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs a program there."""
        return [*into_lab(self.holder, False), *argv]

    def call(self, *argv: str) -> Completed:
        """Runs it to its end."""
        return run(self.enter(argv), check=False)

    def as_user(
        self, user: str, command: str, *, claims: str = "", ticket: bool = True
    ) -> Completed:
        """A shell command of a user's, with a ticket of its own, that claims to be somebody."""
        cache = f"/tmp/vas-krb5-{user}"
        login = f"kinit -k -t /etc/kdc/{user}.keytab {user}" if ticket else "true"
        settings = f"KRB5CCNAME={cache} HADOOP_CONF_DIR=/etc/vas/once"
        settings += f" HADOOP_USER_NAME={claims}" if claims else ""
        shell = f"export {settings}; {login} && {command}; status=$?; rm -f {cache}; exit $status"
        return self.call("runuser", "-u", user, "--", "sh", "-c", shell)

    def refresh(self, realm: str) -> Completed:
        """The role's tasks."""
        shell = self.directory / "sh"
        shell.write_text(f'#!/bin/sh\nexec {shlex.join(self.enter(["/bin/sh"]))} "$@"\n')
        shell.chmod(0o755)
        local = {"ansible_connection": "local", "ansible_shell_executable": str(shell)}
        local |= {"vas_hadoop_kerberos_realm": realm}
        groups = {"vas_resourcemanager": {"hosts": {"rm": local}}}
        (self.directory / "hosts.yml").write_text(json.dumps({"all": {"children": groups}}))
        (self.directory / "play.yml").write_text(PLAY)
        argv = [str(PROGRAMS / "ansible-playbook"), "-i", str(self.directory / "hosts.yml")]
        directory = ["env", "-C", str(REPOSITORY / "ansible")]
        return run([*directory, *argv, str(self.directory / "play.yml")], check=False)


def files(directory: Path) -> None:
    """What a site's machine has."""
    cluster = parse_cluster(lab_site_yaml(2), "site")
    template = REPOSITORY / "ansible/roles/hadoop/templates/hadoop.sh.j2"
    names = {"directory": "/usr/lib/vas", "configuration": "/etc/vas/hadoop"}
    hadoop = Template(template.read_text()).render(
        {f"__vas_hadoop_{name}": path for name, path in names.items()}
    )
    log4j = REPOSITORY / "vm-images/guest/mkosi.extra/usr/lib/vas/log4j.properties"
    made = {
        "etc/krb5.conf": KRB5,
        "etc/krb5kdc/kdc.conf": KDC,
        "etc/kdc/.kept": "",
        "etc/hosts": "127.0.0.1 rm localhost\n",
        "etc/vas/cluster.yaml": lab_site_yaml(2),
        "etc/vas/hadoop/exclude": "",
        "usr/lib/vas/log4j.properties": log4j.read_text(),
        "usr/lib/vas/hadoop.sh": hadoop,
        "usr/lib/vas/Submit.java": SUBMIT,
    }
    configured = site_files(cluster, "rm", Choices(realm=REALM))
    made |= {f"etc/vas/hadoop/{name}": text for name, text in configured.items()}
    # A client that is not heard would try again for a quarter of an hour.
    once = Choices(realm=REALM, properties={"yarn.resourcemanager.connect.max-wait.ms": "1000"})
    made |= {f"etc/vas/once/{name}": text for name, text in site_files(cluster, "rm", once).items()}
    for name, text in made.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (directory / "usr/lib/vas/hadoop.sh").chmod(0o755)


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    """A KDC, and a ResourceManager that has logged in."""
    directory = tmp_path_factory.mktemp("secure")
    (directory / "writes").mkdir()
    files(directory / "files")
    own = ["--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words = [directory / "writes", directory / "files", find_java(), find_hadoop(), find_plugins()]
    argv = ["unshare", *own, "--", "sh", "-euc", SET_UP, "sh", *map(str, words)]
    environment = {**os.environ, "KRB5_KDC_PROFILE": "/etc/krb5kdc/kdc.conf"}
    holder = subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"ready\n"
        made = Manager(children(Root(), holder.pid)[0], directory)
        as_yarn = ["runuser", "-u", "yarn", "--", "/usr/lib/vas/hadoop.sh"]
        daemon = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
        log = (directory / "log").open("wb")
        kdc = subprocess.Popen(
            made.enter(["krb5kdc", "-n"]), stdout=log, stderr=log, env=environment
        )
        rm = subprocess.Popen(made.enter([*as_yarn, daemon]), stdout=log, stderr=log)

        def listens() -> str:
            assert rm.poll() is None and kdc.poll() is None, (directory / "log").read_text()[-4000:]
            return made.call("ss", "-Hltn", "sport", "=", ":8033").stdout

        poll(listens, bool, 300, "the ResourceManager to listen to administrators")
        yield made
    finally:
        holder.kill()
        holder.wait()


def test_the_resourcemanager_is_told_with_its_own_ticket(manager: Manager) -> None:
    done = manager.refresh(REALM)
    assert done.status == 0, done.stdout[-4000:]
    assert "changed=1" in done.stdout


def test_no_ticket_is_left(manager: Manager) -> None:
    manager.refresh(REALM)
    left = [path.name for path in Path("/tmp").glob("*vas-drain-*")]
    assert not left
    assert not list(Path("/tmp").glob("krb5cc_*870*"))


def test_without_one_it_does_not_listen(manager: Manager) -> None:
    client = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"
    # It would try again for a quarter of an hour.
    once = "-Dyarn.resourcemanager.connect.max-wait.ms=1000"
    as_yarn = ["runuser", "-u", "yarn", "--", "/usr/lib/vas/hadoop.sh"]
    done = manager.call(*as_yarn, client, once, "-refreshNodes")
    assert done.status != 0
    assert "Client cannot authenticate via:[KERBEROS]" in done.stderr + done.stdout


_CLIENT = "/usr/lib/vas/hadoop.sh org.apache.hadoop.yarn.client.cli"
_LIST = f"{_CLIENT}.ApplicationCLI application -list -appStates ALL"
_REFRESH = f"{_CLIENT}.RMAdminCLI -refreshNodes"
_SUBMIT = (
    "/usr/lib/vas/java/bin/java -Dlog4j.configuration=file:/usr/lib/vas/log4j.properties"
    " -cp '/etc/vas/once:/usr/lib/vas/hadoop/*:/usr/lib/vas/plugins/*' /usr/lib/vas/Submit.java"
)


def owners(manager: Manager) -> list[str]:
    """Of all applications, as the manager's own administrator sees them."""
    url = "http://rm:8088/ws/v1/cluster/apps"
    program = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
    listed = json.loads(manager.call("python3", "-c", program, url).stdout)["apps"] or {}
    return sorted(app["user"] for app in listed.get("app", []))


def test_S1_a_forged_name_is_still_the_ticket_s_user(manager: Manager) -> None:
    """HADOOP_USER_NAME says ann, and yarn; what counts is bob's ticket."""
    for claims in ("ann", "yarn"):
        done = manager.as_user("bob", _SUBMIT, claims=claims)
        assert done.status == 0, done.stderr[-4000:]
        assert "OWNER bob" in done.stdout
    assert manager.as_user("ann", _SUBMIT).stdout.strip().endswith("OWNER ann")
    assert owners(manager) == ["ann", "bob", "bob"]


def test_S1_with_a_ticket_a_user_lists_applications(manager: Manager) -> None:
    """So that what is refused without one is refused for that."""
    done = manager.as_user("bob", _LIST)
    assert done.status == 0 and "Total number of applications" in done.stdout, done.stderr


def test_S1_an_ordinary_user_is_no_administrator_whatever_it_claims(manager: Manager) -> None:
    for claims in ("", "yarn", "rm"):
        done = manager.as_user("bob", _REFRESH, claims=claims)
        assert done.status != 0
        said = done.stderr + done.stdout
        assert "User bob doesn't have permission to call 'refreshNodes'" in said, said[-2000:]


@pytest.mark.parametrize("command", [_LIST, _REFRESH, _SUBMIT], ids=["list", "rmadmin", "submit"])
def test_S1_without_a_ticket_nobody_is_heard(manager: Manager, command: str) -> None:
    before = owners(manager)
    done = manager.as_user("bob", command, claims="ann", ticket=False)
    assert done.status != 0
    assert "Client cannot authenticate via:[" in done.stderr + done.stdout
    assert owners(manager) == before


def test_S1_the_web_address_takes_no_application_of_anybody(manager: Manager) -> None:
    """Without Kerberos it would believe `?user.name=ann`."""
    program = """
import sys, urllib.error, urllib.request as u
try:
    print(u.urlopen(u.Request(sys.argv[1], method="POST")).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
    url = "http://rm:8088/ws/v1/cluster/apps/new-application?user.name=ann"
    assert manager.call("python3", "-c", program, url).stdout.strip() in ("401", "403")


def test_the_configuration_is_of_the_secure_mode() -> None:
    configured = site_files(parse_cluster(lab_site_yaml(2), "s"), "rm", Choices(realm=REALM))
    assert f"rm/_HOST@{REALM}" in configured["yarn-site.xml"]
    tasks = yaml.safe_load((REPOSITORY / "ansible/roles/drain/tasks/refresh.yml").read_text())
    assert tasks[0]["always"]
