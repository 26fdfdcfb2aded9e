"""Every role on real hosts: made true, again without a change, checked, taken away, as before."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_ansible.archives import archive_hadoop, archive_wheels
from vas_core.polling import poll
from vas_tests.checks import REPOSITORY
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.compare import differences, look

_LACKS = [p for p in ("mmdebstrap", "ssh", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]

_PLAY = """
- name: The role {role}
  hosts: {hosts}
  become: true
  roles:
    - role: {role}
"""


@pytest.fixture(scope="module")
def archives() -> dict[str, str]:
    """What the controller hands to nodes."""
    build = REPOSITORY / "build" / "hosts"
    wheels, hadoop = build / "vas-wheels.tar", build / "vas-hadoop.tar"
    archive_wheels(wheels)
    archive_hadoop(hadoop)
    return {"vas_program_archive": str(wheels), "vas_hadoop_archive": str(hadoop)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_of_hosts(tmp_path_factory.mktemp("site")) as made:
        yield made


def cycle(site: Site, role: str, hosts: str, variables: dict[str, object]) -> None:
    """Present, again, check, absent: and then everything as it was before."""
    playbook = REPOSITORY / "ansible" / f".test-{role}.yml"
    playbook.write_text(_PLAY.format(role=role, hosts=hosts))
    names = [name for name, host in site.hosts.items() if name in _members(site, hosts)]
    try:
        before = {name: look(site.hosts[name]) for name in names}
        state = {f"vas_{role}_state": "present"}
        would = site.play(playbook, variables | state, "--check")
        assert all(would.changed[name] > 0 for name in names), would.text
        done = site.play(playbook, variables | state, "--diff")
        assert all(done.changed[name] > 0 for name in names), done.text
        for words in ((), ("--check", "--diff")):
            again = site.play(playbook, variables | state, *words)
            assert all(again.changed[name] == 0 for name in names), again.text
        gone = {f"vas_{role}_state": "absent"}
        site.play(playbook, variables | gone, "--check")
        site.play(playbook, variables | gone)
        assert all(v == 0 for v in site.play(playbook, variables | gone).changed.values())
        for name in names:
            assert differences(before[name], look(site.hosts[name])) == "", f"{role} on {name}"
    finally:
        playbook.unlink()


def _members(site: Site, hosts: str) -> list[str]:
    groups = {
        "vas_oss": [host.name for host in site.cluster.hosts],
        "vas_guests": [guest.name for guest in site.cluster.guests()],
    }
    return [name for group in hosts.split(":") for name in groups[group]]


def test_the_program(site: Site, archives: dict[str, str]) -> None:
    cycle(site, "program", "vas_oss", dict(archives))


def test_a_run_that_is_killed_is_repaired_by_the_next(site: Site, archives: dict[str, str]) -> None:
    oss1 = site.hosts["oss1"]
    before = look(oss1)
    playbook = REPOSITORY / "ansible" / ".test-killed.yml"
    playbook.write_text(_PLAY.format(role="program", hosts="vas_oss"))

    def half_made() -> bool:
        return oss1.run("sh", "-c", "ls /opt/vas/venv-*/bin/pip", check=False).status == 0

    try:
        process = site.start(playbook, archives)
        try:
            poll(half_made, lambda made: made, 200.0, "an environment in the making")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert oss1.run("sh", "-c", "ls /opt/vas/*/.complete", check=False).status != 0
        assert site.play(playbook, archives).changed["oss1"] > 0
        assert oss1.run("vas", "cluster", "check").status == 0
        site.play(playbook, archives | {"vas_program_state": "absent"})
        assert differences(before, look(oss1)) == ""
    finally:
        playbook.unlink()


def test_the_base_of_guests(site: Site) -> None:
    cycle(site, "guest_base", "vas_guests", {})


def test_the_mount_of_lustre(site: Site) -> None:
    # There is no Lustre here: its unit is written and enabled, and not started.
    cycle(site, "lustre_client", "vas_guests", {"vas_lustre_client_started": False})


@pytest.fixture
def program(site: Site, archives: dict[str, str]) -> Iterator[dict[str, object]]:
    """The program, on all hosts, for roles that need it."""
    playbook = REPOSITORY / "ansible" / ".test-with-program.yml"
    playbook.write_text(_PLAY.format(role="program", hosts="vas_oss:vas_guests"))
    variables: dict[str, object] = dict(archives)
    try:
        site.play(playbook, variables)
        yield variables
        site.play(playbook, variables | {"vas_program_state": "absent"})
    finally:
        playbook.unlink()


def test_the_route_switcher(site: Site, program: dict[str, object]) -> None:
    cycle(site, "route_switcher", "vas_oss:vas_guests", program)


def test_the_placement(site: Site, program: dict[str, object]) -> None:
    cycle(site, "affinity", "vas_oss", program)


def test_yarn(site: Site, archives: dict[str, str]) -> None:
    """The daemons run and answer; the mount is a plain directory, which needs no layouts."""
    site.hosts["vm1"].run("mkdir", "-p", "/scratch")
    site.hosts["vm1"].run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/scratch")
    site.hosts["vm1"].run("sh", "-c", "echo 10.213.0.21 vm1 >>/etc/hosts")
    site.hosts["vm1"].run("mkdir", "-p", "/etc/vas")
    site.hosts["vm1"].run("sh", "-c", f"cat >/etc/vas/cluster.yaml <<'X'\n{_map()}\nX\n")
    properties = {"vas.layout.required": "false"}
    variables = dict(archives) | {"vas_hadoop_properties": properties}
    cycle(site, "hadoop", "vas_guests", variables)


def _map() -> str:
    return Path(REPOSITORY / "tests/vas_tests/hosts/site.yaml").read_text()
