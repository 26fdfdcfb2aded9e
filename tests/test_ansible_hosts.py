"""Every role on hosts in namespaces: present, again without a change, checked, absent."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_ansible.monitoring import HADOOP_METRICS
from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.cycle import cycle, made_true, play_role, role_playbook
from vas_tests.hosts.host import EmulatedHost
from vas_tests.hosts.yarn import asked, running_nodes

_LACKS = [p for p in ("mmdebstrap", "ssh", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_PLAYBOOKS = REPOSITORY / "ansible"
_NEW_HEAP = {"vas_hadoop_heaps": {"nodemanager": "-Xmx500m"}}
_DOMAIN = """<domain type="qemu"><name>vm1</name><memory unit="MiB">64</memory><vcpu>1</vcpu>
<os><type arch="x86_64" machine="q35">hvm</type></os></domain>"""
_ALL = "vas_oss:vas_guests"
_YARN = "vas_guests:vas_resourcemanager"
Variables = dict[str, object]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_of_hosts(tmp_path_factory.mktemp("site")) as made:
        yield made


def test_the_base_of_guests(site: Site) -> None:
    cycle(site, "guest_base", _YARN, {})


def test_the_mount_of_lustre(site: Site) -> None:
    # There is no Lustre here: its unit is written and enabled, and not started.
    cycle(site, "lustre_client", "vas_guests", {"vas_lustre_client_started": False})


def _environment_in_the_making(host: EmulatedHost) -> bool:
    return host.run("sh", "-c", "ls /opt/vas/venv-*/bin/pip", check=False).status == 0


def test_a_run_that_is_interrupted_is_repaired_by_the_next(site: Site, archives: Variables) -> None:
    oss1 = site.hosts["oss1"]
    before = look(oss1)
    playbook = role_playbook(site, "program", "vas_oss")
    process = site.start(playbook, archives)
    try:
        poll(lambda: _environment_in_the_making(oss1), bool, 200.0, "an environment")
        second = site.play(playbook, archives, check=False)
        assert "another ansible-playbook is at work on this site" in second.errors
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert oss1.run("sh", "-c", "ls /opt/vas/*/.complete", check=False).status != 0
    assert site.play(playbook, archives).changed["oss1"] > 0
    assert oss1.run("vas", "cluster", "check").status == 0
    site.play(playbook, archives | {"vas_program_state": "absent"})
    assert differences(before, look(oss1)) == ""


def test_a_machine_that_dies_meanwhile_is_repaired_by_the_next(
    site: Site, archives: Variables
) -> None:
    before = look(site.hosts["vm1"])
    playbook = role_playbook(site, "program", "vas_guests")
    process = site.start(playbook, archives)
    poll(lambda: _environment_in_the_making(site.hosts["vm1"]), bool, 200.0, "an environment")
    site.hosts["vm1"].kill()
    assert process.wait(120) != 0
    site.start_again("vm1")
    assert site.play(playbook, archives).changed["vm1"] > 0
    assert site.hosts["vm1"].run("vas", "cluster", "check").status == 0
    site.play(playbook, archives | {"vas_program_state": "absent"})
    assert differences(before, look(site.hosts["vm1"])) == ""


def test_a_repository_that_does_not_answer_is_said_and_taken_back(
    site: Site, tmp_path: Path
) -> None:
    vm1 = site.hosts["vm1"]
    before = look(vm1)
    key = tmp_path / "key.asc"
    key.write_text("no key\n")
    repository = {"url": "http://10.213.0.99/lustre", "key": str(key)}
    variables = {"vas_lustre_client_repository": repository, "vas_lustre_client_started": False}
    playbook = role_playbook(site, "lustre_client", "vas_guests")
    failed = site.play(playbook, variables, check=False)
    assert "lustre-client-utils" in failed.text
    assert "failed=1" in failed.text
    site.play(playbook, {"vas_lustre_client_state": "absent"})
    assert differences(before, look(vm1)) == ""


_MEASURES = """---
- name: What verify measures with
  hosts: vas_guests
  tasks:
    - name: Install the programs to measure with
      ansible.builtin.include_role: {name: verify, tasks_from: tools.yml}
    - name: Run each program
      ansible.builtin.command: {argv: ["{{ item }}", --version]}
      loop: [iperf3, fio]
    - name: Remove the programs
      vas_packages: {role: verify, state: absent}
"""


def test_what_a_site_is_measured_with_goes_again(site: Site) -> None:
    vm1 = site.hosts["vm1"]
    before = look(vm1)
    playbook = site.directory / "measures.yml"
    playbook.write_text(_MEASURES)
    site.play(playbook)
    assert differences(before, look(vm1)) == ""


def test_the_program(site: Site, archives: Variables) -> None:
    cycle(site, "program", "vas_oss", archives)


@pytest.fixture(scope="module")
def program(site: Site, archives: Variables) -> Variables:
    """The program, on all hosts, for the roles that need it."""
    play_role(site, "program", f"{_ALL}:vas_resourcemanager", archives)
    return archives


def test_yarn(site: Site, program: Variables) -> None:
    """The daemons run and answer; guests leave YARN and come back."""
    variables = program | _mounted(site)
    with made_true(site, "hadoop", _YARN, variables, leaves=("/scratch",)):
        _is_measured(site)
        _is_evacuated_and_readmitted(site)
        done = site.play(_PLAYBOOKS / "rolling-upgrade.yml", variables | _NEW_HEAP)
        assert done.changed["vm1"] > 0
        assert running_nodes(site) == ["vm1"]


def test_the_route_switcher(site: Site, program: Variables) -> None:
    cycle(site, "route_switcher", _ALL, program)


def test_the_placement(site: Site, program: Variables) -> None:
    cycle(site, "affinity", "vas_oss", program)


def _is_measured(site: Site) -> None:
    """Hadoop's metrics have the names that rules and panels have."""

    def unnamed() -> list[str]:
        found = "".join(asked(site, f"http://{at}/prom") for at in ("rm1:8088", "vm1:8042"))
        return [name for name in HADOOP_METRICS if f"\n{name}{{" not in found]

    poll(unnamed, lambda names: not names, 60.0, "all metrics")


def _is_evacuated_and_readmitted(site: Site) -> None:
    """The guest in libvirt is none: its firmware finds nothing to boot, and obeys no shutdown."""
    oss1, named = site.hosts["oss1"], {"vas_evacuate": "oss1"}
    for argv in (("define", "/dev/stdin"), ("autostart", "vm1"), ("start", "vm1")):
        oss1.run("virsh", *argv, stdin=_DOMAIN)
    started = time.monotonic()
    evacuated = site.play(_PLAYBOOKS / "evacuate.yml", named)
    print(f"evacuated in {time.monotonic() - started:.0f} s")
    assert evacuated.changed["oss1"] > 0
    assert oss1.run("virsh", "list", "--name").stdout.split() == []
    assert running_nodes(site) == []
    assert site.play(_PLAYBOOKS / "evacuate.yml", named).changes() == 0
    left_alone = site.play(_PLAYBOOKS / "site.yml", {}, "--list-hosts").text
    assert "rm1" in left_alone
    assert "oss1" not in left_alone

    site.play(_PLAYBOOKS / "readmit.yml", named)
    poll(lambda: running_nodes(site), lambda names: names == ["vm1"], 60.0, "the guest in YARN")
    assert oss1.run("virsh", "list", "--name", "--autostart").stdout.split() == ["vm1"]
    for argv in (("destroy", "vm1"), ("undefine", "vm1")):
        oss1.run("virsh", *argv)


def _is_evacuated_though_libvirt_hangs(site: Site) -> None:
    """libvirtd is stopped by a signal: every call of virsh waits for ever. QEMU runs."""
    oss1, named = site.hosts["oss1"], {"vas_evacuate": "oss1"}
    for argv in (("define", "/dev/stdin"), ("autostart", "vm1"), ("start", "vm1")):
        oss1.run("virsh", *argv, stdin=_DOMAIN)
    oss1.run("pkill", "--signal", "STOP", "-x", "libvirtd")
    try:
        started = time.monotonic()
        done = site.play(_PLAYBOOKS / "evacuate.yml", named)
        seconds = time.monotonic() - started
        print(f"evacuated in {seconds:.0f} s though libvirt hangs")
        assert seconds < 60
        assert done.changed["oss1"] > 0
        assert oss1.run("pgrep", "-f", "guest=vm1", check=False).status != 0
        assert "WITHOUT A SYNC" not in done.text  # its namespace answers ssh
    finally:
        oss1.run("pkill", "--signal", "CONT", "-x", "libvirtd")
    poll(lambda: oss1.run("virsh", "list", "--name").stdout.split(), lambda n: not n, 30.0, "no VM")
    site.play(_PLAYBOOKS / "readmit.yml", named)
    for argv in (("destroy", "vm1"), ("undefine", "vm1")):
        oss1.run("virsh", *argv)


def test_D1_H5_a_server_is_free_within_a_minute(site: Site, program: Variables) -> None:
    """Whose libvirt hangs; and one whose guest nobody can sync, which is said with its jobs."""
    variables = program | _mounted(site)
    play_role(site, "hadoop", _YARN, variables)
    poll(lambda: running_nodes(site), lambda names: names == ["vm1"], 120.0, "the guest in YARN")
    _is_evacuated_though_libvirt_hangs(site)
    poll(lambda: running_nodes(site), lambda names: names == ["vm1"], 120.0, "the guest in YARN")
    _is_evacuated_without_a_sync(site)
    play_role(site, "hadoop", _YARN, variables | {"vas_hadoop_state": "absent"})


def _is_evacuated_without_a_sync(site: Site) -> None:
    """Neither its ssh nor its agent answers."""
    oss1, named = site.hosts["oss1"], {"vas_evacuate": "oss1"}
    for argv in (("define", "/dev/stdin"), ("start", "vm1")):
        oss1.run("virsh", *argv, stdin=_DOMAIN)
    # Sessions that are open already, too.
    site.hosts["vm1"].run("sh", "-c", "systemctl stop ssh; pkill -KILL sshd")
    started = time.monotonic()
    said = site.play(_PLAYBOOKS / "evacuate.yml", named).text
    seconds = time.monotonic() - started
    print(f"evacuated in {seconds:.0f} s, without a sync")
    site.hosts["vm1"].run("systemctl", "start", "ssh")
    assert seconds < 60
    assert "WARNING: the power of vm1 was cut WITHOUT A SYNC" in said
    assert "SUSPECT: vm1 stopped without a sync" in said
    site.play(_PLAYBOOKS / "readmit.yml", named)
    for argv in (("destroy", "vm1"), ("undefine", "vm1")):
        oss1.run("virsh", *argv)


def test_D1_a_guest_notes_a_stop_without_a_sync(site: Site) -> None:
    """Its own systemd: one that stops is not noted, one whose power goes is."""
    play_role(site, "guest_base", "vas_guests", {})
    notes = ("cat", "/var/lib/vas/unclean-stops")
    vm1 = site.hosts["vm1"]
    vm1.run("systemctl", "restart", "vas-clean-stop")
    assert vm1.run(*notes, check=False).status != 0
    vm1.kill()
    site.start_again("vm1")
    (line,) = site.hosts["vm1"].run(*notes).stdout.splitlines()
    assert len(line.split()) == 2
    play_role(site, "guest_base", "vas_guests", {"vas_guest_base_state": "absent"})
    assert site.hosts["vm1"].run(*notes, check=False).status != 0


def _mounted(site: Site) -> Variables:
    """What YARN needs of other roles, and a plain directory for the mount, without layouts."""
    for name in ("rm1", "vm1"):
        host = site.hosts[name]
        host.run("mkdir", "-p", "/scratch")
        host.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/scratch")
        host.run("sh", "-c", "printf '10.213.0.21 vm1\\n10.213.0.31 rm1\\n' >>/etc/hosts")
    return {"vas_hadoop_properties": {"vas.layout.required": "false"}}
