"""A login node as the roles make it: a scientist's job goes from there to the guests and back."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

import pytest

from vas_core.polling import poll
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.cycle import play_role
from vas_tests.hosts.login import as_scientist, prepare
from vas_tests.hosts.lustre import shared_directory
from vas_tests.hosts.site import MAP
from vas_tests.hosts.yarn import running_nodes

_LACKS = [p for p in ("mmdebstrap", "ssh", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
Variables = dict[str, object]
_CLIENTS = "  clients:\n    - {name: login1, address: 10.213.0.41}\n"
_NAMES = "10.213.0.21 vm1\n10.213.0.31 rm1\n10.213.0.41 login1\n"
# A job of one map, in containers that the guest of 4 GiB has room for.
_SMALL = (
    *("-Dyarn.app.mapreduce.am.resource.mb=1024", "-Dyarn.app.mapreduce.am.command-opts=-Xmx400m"),
    *("-Dmapreduce.map.memory.mb=1024", "-Dmapreduce.map.java.opts=-Xmx300m"),
    *("-Dmapreduce.task.io.sort.mb=32", "-Dmapreduce.job.maps=1"),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    map_file = directory / "with-login.yaml"
    map_file.write_text(MAP.read_text() + _CLIENTS)
    machines = ("vm1", "rm1", "login1")
    # In place of Lustre, which all of them have.
    with (
        shared_directory() as scratch,
        site_of_hosts(directory, machines, map_file, {"/scratch": scratch}) as made,
    ):
        for name in ("vm1", "rm1"):
            made.hosts[name].run("tee", "-a", "/etc/hosts", stdin=_NAMES)
        prepare(made)
        yield made


@pytest.fixture(scope="module")
def login(site: Site, archives: Variables) -> Iterator[Site]:
    """YARN runs, and the login node is one; afterwards the login node is as it was before."""
    own: Variables = {"vas_hadoop_users": ["yarn"], "vas_hadoop_class_archive": False}
    variables = archives | own | {"vas_hadoop_properties": {"vas.layout.required": "false"}}
    for name in ("vm1", "rm1"):
        words = ("install", "-D", "-m", "0644", "/dev/stdin", "/etc/vas/cluster.yaml")
        site.hosts[name].run(*words, stdin=site.map.read_text())
    play_role(site, "hadoop", "vas_guests:vas_resourcemanager", variables)
    poll(lambda: running_nodes(site), lambda names: names == ["vm1"], 120.0, "the guest in YARN")
    left = ("/scratch", "/home/yarn")
    before = look(site.hosts["login1"], left)
    for role in ("program", "hadoop"):
        play_role(site, role, "vas_clients", variables)
    again = play_role(site, "hadoop", "vas_clients", variables)
    assert again.changes() == 0, again.text
    yield site
    for role in ("hadoop", "program"):
        play_role(site, role, "vas_clients", variables | {f"vas_{role}_state": "absent"})
    assert differences(before, look(site.hosts["login1"], left)) == ""


def test_no_daemon_runs_there(login: Site) -> None:
    units = login.hosts["login1"].run("systemctl", "list-units", "--all", "--plain", "vas-*").stdout
    assert "vas-" not in units


def test_a_user_sees_the_cluster(login: Site) -> None:
    assert "Hadoop 3.5" in as_scientist(login, "hadoop version").stdout
    assert "vm1:" in as_scientist(login, "yarn node -list 2>/dev/null").stdout
    found = as_scientist(login, "vas doctor", check=False).stdout
    assert re.search(r"ok +Hadoop configuration", found), found
    assert re.search(r"ok +placement", found), found


def test_a_job_goes_from_the_login_node_to_the_guest_and_back(login: Site) -> None:
    jar = "/usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar"
    done = as_scientist(login, f"vas submit {jar} teragen {' '.join(_SMALL)} 1000 /user/yarn/out")
    (application,) = set(re.findall(r"Submitted application (application_\d+_\d+)", done.stderr))
    rows = login.hosts["login1"].run("find", "/scratch/user/yarn/out", "-type", "f", "-ls").stdout
    assert "_SUCCESS" in rows and " 100000 " in rows, rows
    found = as_scientist(login, f"vas job locality {application}", check=False)
    assert "1 map" in found.stdout, found.stdout + found.stderr
    # Rows that are generated have no place, so nothing was decided of them: that is what it says.
    assert "no placement log was read" in found.stderr, found.stderr
