"""site.yml makes a guest of the project's image, and what it runs is a container of YARN's.

The storage server and the ResourceManager's machine are in namespaces; the guest is emulated.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_tests import emulated
from vas_tests.hosts import PlaybookOutcome, Site, site_of_hosts
from vas_tests.hosts.real_guest import (
    GUEST,
    bridge_leg,
    log_in,
    map_with_room,
    mount_scratch,
    variables,
)
from vas_tests.hosts.yarn import applications, running_nodes

_LACKS = [p for p in ("mmdebstrap", "ssh", "qemu-img", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(3 * 3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_BOOT_SECONDS = 2400.0
_PLAY_SECONDS = 6000.0
_JOIN_SECONDS = 900.0
_STAGING = "/scratch/yarn/staging"
Variables = dict[str, object]
# There is no Lustre here, and no time server.
_WITHOUT: Variables = {
    "vas_lustre_client_started": False,
    "vas_hadoop_properties": {"vas.layout.required": "false"} | emulated.properties(),
    "vas_hostcheck_accepted": ["time", "links"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A storage server, and a machine for the ResourceManager."""
    directory = tmp_path_factory.mktemp("site")
    map_file = map_with_room(tmp_path_factory.mktemp("map") / "cluster.yaml")
    with site_of_hosts(directory, ["oss1", "rm1"], map_file) as made:
        bridge_leg(made, made.hosts["oss1"])
        made.hosts["rm1"].run("mkdir", "/scratch")
        made.hosts["rm1"].run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/scratch")
        yield made


@pytest.fixture(scope="module")
def told(site: Site, archives: Variables, guest_image: Path) -> Variables:
    """What the playbook is told."""
    return archives | _WITHOUT | variables(site, guest_image)


def test_site_yml_makes_the_guest_and_has_it_in_yarn(site: Site, told: Variables) -> None:
    with ThreadPoolExecutor(1) as beside:
        scratch = beside.submit(mount_scratch, site, _BOOT_SECONDS)
        _play(site, told)
        scratch.result()
    assert site.hosts["oss1"].run("virsh", "list", "--name").stdout.split() == [GUEST]
    # By virtio, each way: there the guest's leg has the name that the kernel gave it.
    assert "via 169.254.213.1 " in log_in(site, "ip route get 10.213.0.11").stdout
    assert "dev vasbr0" in site.hosts["oss1"].run("ip", "route", "get", "10.213.0.21").stdout
    nodes = poll(lambda: running_nodes(site, "rm1"), bool, _JOIN_SECONDS, "the NodeManager to join")
    assert nodes == [GUEST]


def test_the_guest_runs_a_container(site: Site) -> None:
    log_in(site, f"sudo install -d -o yarn -g hadoop /scratch/yarn /scratch/yarn/logs {_STAGING}")
    # What the client says is shown only: the history server has a scratch of its own, and cannot
    # tell an emulated client of a job that ended before it asked.
    done = log_in(site, _job("pi 1 10"))
    (app,) = applications(site, "rm1")
    assert app["finalStatus"] == "SUCCEEDED", done.stdout
    left = log_in(site, f"sudo ls {_STAGING}/history/done_intermediate/yarn").stdout
    assert "-1-1-SUCCEEDED-" in left, done.stdout


def test_a_second_site_yml_changes_nothing(site: Site, told: Variables) -> None:
    again = _play(site, told)
    assert again.changes() == 0, again.text


def _job(words: str) -> str:
    """One of Hadoop's examples, run in the guest as YARN's user."""
    jar = "$(echo /usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar)"
    options = f'HADOOP_CLIENT_OPTS="{emulated.CLIENT_HEAP}"'
    return f"cd /; sudo -u yarn env {options} hadoop jar {jar} {words} 2>&1"


def _play(site: Site, told: Variables) -> PlaybookOutcome:
    started = time.monotonic()
    playbook = REPOSITORY / "ansible" / "site.yml"
    done = site.play(playbook, told, timeout_seconds=_PLAY_SECONDS)
    print(f"site.yml: {time.monotonic() - started:.0f} s")
    return done
