"""A whole site, from the map to a scientist's result, through its failures, and back to bare
machines.

Two storage servers, each with a guest; a login node; the ResourceManager: machines in namespaces
with a real systemd, sshd, libvirt and YARN. A guest is two, as in tests/test_ansible_site.py: a
domain under libvirt that halts, and is placed, started and shut down; and a machine that has its
addresses, and goes and comes with the domain. A cable stands for a virtual function, the lab's
stand-in for Lustre. The scientist is `yarn`, as no registry has Hadoop's setuid program.

The steps build on one another: each one is skipped if one that it needs was not passed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vas_core.polling import poll
from vas_core.process import Completed
from vas_tests.hosts.guest import SETTINGS, make_image
from vas_tests.hosts.login import SCIENTIST
from vas_tests.hosts.network import silent
from vas_tests.hosts.whole import MANAGER, Variables, WholeSite

_NEEDED = ("gcc", "mmdebstrap", "ssh", "qemu-img", "nsenter", "tc")
_LACKS = [program for program in _NEEDED if shutil.which(program) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_GUESTS = ("vm1", "vm2")
_ON_FABRIC = ("oss1", "oss2", *_GUESTS)
_PLACED = ("affinity", "verify", "/etc/vas/placement.json")
_ROUTED = ("route", "verify")
_LOST, _ITS_GUEST = "oss2", "vm2"
# No machine here serves the time, and the kernel's settings are this machine's.
_WITHOUT: Variables = {"vas_hostcheck_accepted": ["time", "links"]}
_NEW_HEAPS: Variables = {
    "vas_hadoop_heaps": {"nodemanager": "-Xmx500m", "resourcemanager": "-Xmx900m"}
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, archives: Variables) -> Iterator[WholeSite]:
    image = make_image(tmp_path_factory.mktemp("image") / "image")
    variables = archives | SETTINGS | _WITHOUT | {"vas_guest_image": str(image)}
    with WholeSite.of(tmp_path_factory.mktemp("site"), variables) as made:
        yield made


def needs(whole: WholeSite, *steps: str) -> None:
    """Skips a step if one that it builds on was not passed."""
    if missing := [step for step in steps if step not in whole.passed]:
        pytest.skip(f"not passed: {', '.join(missing)}")


def test_the_map_is_checked_and_a_mistake_stops_before_any_change(whole: WholeSite) -> None:
    check = (sys.executable, "-m", "vas_core", "cluster", "check")
    whole.site.beside(*check, str(whole.site.map))
    wrong: Variables = {"vas_hadoop_reservd": "1GiB"}
    refused = whole.play("site.yml", wrong, check=False)
    assert "did you mean vas_hadoop_reserved?" in " ".join(refused.text.split())
    assert refused.changes() == 0
    assert not set(refused.changed) & set(whole.site.hosts), "no machine was even asked"


def test_site_yml_makes_the_queue(whole: WholeSite) -> None:
    done = whole.play("site.yml")
    assert all(done.changed[name] > 0 for name in whole.site.hosts), done.text
    whole.wait_for_nodes(*_GUESTS)
    whole.passed.add("site.yml")


def test_guests_are_placed_and_packets_go_by_the_right_leg(whole: WholeSite) -> None:
    needs(whole, "site.yml")
    for server, guest in whole.servers.items():
        assert whole.running_guests(server) == [guest]
        _wait_until(whole, server, *_PLACED)
        assert "dev vasbr0" in whole.route(server, guest)
        assert "dev virtio0" in whole.route(guest, server)
    assert "dev vf0" in whole.route("vm1", "oss2")
    for name in _ON_FABRIC:
        machine = whole.site.hosts[name]
        assert machine.run("systemctl", "is-active", "vas-routed").stdout.strip() == "active"
        _wait_until(whole, name, *_ROUTED)


def _wait_until(whole: WholeSite, name: str, *words: str) -> None:
    """Until a command of `vas` succeeds on a machine."""

    def status() -> int:
        return whole.site.hosts[name].run("vas", *words, check=False).status

    poll(status, lambda seen: seen == 0, 90.0, f"`vas {' '.join(words)}` on {name}")


def test_a_scientist_sorts_from_the_login_node(whole: WholeSite) -> None:
    needs(whole, "site.yml")
    found = whole.scientist("vas doctor", check=False).stdout
    for part in ("Hadoop configuration", "placement", "shuffle", "warm containers"):
        assert re.search(rf"ok +{part}", found), found
    whole.generate()
    whole.passed.add("rows")
    done = whole.sort("sorted")
    whole.assert_sorted("sorted")
    rows = _maps(whole, done)
    assert {row["ran_on"] for row in rows} == set(_GUESTS)
    # A warm container takes a map of the other server's when it has none left.
    local = [row for row in rows if row["where"] == "local"]
    assert len(local) >= 0.9 * len(rows) > 0, rows


def _maps(whole: WholeSite, done: Completed) -> list[dict[str, Any]]:
    """The rows of `vas job locality` of a submitted job, when the logs of all maps are there."""
    (application,) = set(re.findall(r"Submitted application (application_\d+_\d+)", done.stderr))

    def found() -> list[dict[str, Any]]:
        told = whole.scientist(f"vas job locality {application} --json", check=False)
        rows: list[dict[str, Any]] = json.loads(told.stdout) if told.status == 0 else []
        return rows

    def known(rows: list[dict[str, Any]]) -> bool:
        return bool(rows) and all(row["where"] != "unknown" for row in rows)

    return poll(found, known, 120.0, "the places of all maps")


def test_the_scientist_accepts_the_mount(whole: WholeSite) -> None:
    """`vas accept` of the login node, with a job by the queue; no check of it fails."""
    needs(whole, "site.yml")
    home = f"{whole.site.cluster.lustre.mount}/user/{SCIENTIST}"
    done = whole.scientist(f"vas accept {home} --jobs --json", check=False)
    told = {each["check"]: each for each in json.loads(done.stdout)["checks"]}
    assert [each for each in told.values() if each["status"] == "failed"] == [], done.stderr
    assert done.status == 0, done.stderr
    assert "rows in order" in told["terasort"]["seen"]


def test_verify_yml_proves_the_site(whole: WholeSite, tmp_path: Path) -> None:
    """With its own bounds; LNet alone is left out, as there is none."""
    needs(whole, "site.yml")
    chosen: Variables = {
        "vas_verify_user": SCIENTIST,
        "vas_verify_lnet": False,
        "vas_verify_report": str(tmp_path),
    }
    done = whole.play("verify.yml", chosen, check=False)
    file = tmp_path / "whole.json"
    assert file.exists(), done.text[-8000:]
    report = json.loads(file.read_text())
    bad = [check for check in report["checks"] if check["verdict"] != "ok"]
    assert [check for check in bad if check["name"] != "LNet"] == [], done.text[-8000:]
    checks = report["checks"]
    names = [check["name"] for check in checks]
    assert names.count("routes") == len(_ON_FABRIC)
    assert names.count("placement") == len(whole.servers)
    assert names.count("own OSTs") == len(_GUESTS)
    ways = [check["what"].partition(";")[2] for check in checks if check["name"] == "paths"]
    assert ways == [" goes by virtio", " goes by sriov", " goes by sriov"]
    assert {"terasort", "locality", "YARN's nodes"} <= set(names)


def test_a_virtual_function_dies_silently_in_mid_job(whole: WholeSite) -> None:
    """Its host carries the guest until the job has ended; then the leg is used again."""
    needs(whole, "site.yml", "rows")
    with whole.sorting("without-its-vf") as job, silent(whole.site.controller, "vm1"):
        _wait_until_by(whole, "virtio0")
        proxies = whole.site.hosts["oss1"].run("ip", "neigh", "show", "proxy").stdout
        assert whole.site.cluster.guest("vm1").address in proxies
        job.still_runs()
        job.ends_right()
        whole.wait_for_nodes(*_GUESTS)
    _wait_until_by(whole, "vf0")
    for name in ("oss1", "vm1"):
        _wait_until(whole, name, *_ROUTED)


def _wait_until_by(whole: WholeSite, device: str) -> None:
    """Until vm1 reaches the other server by this device."""

    def seen() -> str:
        return whole.route("vm1", "oss2")

    poll(seen, lambda route: f"dev {device}" in route, 60.0, f"vm1 to go by {device}")


def test_a_server_is_evacuated_in_mid_job(whole: WholeSite) -> None:
    needs(whole, "site.yml", "rows")
    with whole.sorting("evacuated") as job:
        with whole.playing("evacuate.yml", {"vas_evacuate": _LOST}):
            whole.wait_for_nodes("vm1")
            job.still_runs()
            poll(lambda: whole.running_guests(_LOST), lambda names: not names, 180.0, "the end")
            # The machine in which its programs run goes with it.
            whole.site.hosts[_ITS_GUEST].kill()
        job.ends_right()
    server = whole.site.hosts[_LOST]
    found = server.run("systemctl", "is-active", "vas-affinityd", check=False)
    assert found.stdout.strip() == "inactive"
    whole.passed.add("evacuate.yml")


def test_the_server_is_readmitted(whole: WholeSite) -> None:
    needs(whole, "evacuate.yml")
    with whole.playing("readmit.yml", {"vas_evacuate": _LOST}):
        poll(lambda: whole.running_guests(_LOST), lambda names: bool(names), 300.0, "its guest")
        whole.site.start_again(_ITS_GUEST)
    whole.wait_for_nodes(*_GUESTS)
    _wait_until(whole, _LOST, *_PLACED)
    _wait_until(whole, _ITS_GUEST, *_ROUTED)


def test_a_release_comes_in_mid_job(whole: WholeSite) -> None:
    """The ResourceManager and each NodeManager start again; the job goes on."""
    needs(whole, "site.yml", "rows")
    with whole.sorting("upgraded") as job:
        done = whole.play("rolling-upgrade.yml", _NEW_HEAPS)
        job.ends_right()
    for name, heap in {MANAGER: "-Xmx900m", **dict.fromkeys(_GUESTS, "-Xmx500m")}.items():
        assert done.changed[name] > 0, done.text
        assert heap in whole.site.hosts[name].run("ps", "-C", "java", "-o", "args=").stdout, name
    whole.wait_for_nodes(*_GUESTS)


def test_teardown_yml_gives_all_machines_back(whole: WholeSite) -> None:
    needs(whole, "site.yml")
    for server, guest in whole.servers.items():
        # The domain halts, and obeys no shutdown; its other machine answers, and is taken back.
        whole.site.hosts[server].run("virsh", "destroy", guest)
    whole.play("teardown.yml", _NEW_HEAPS)
    assert whole.changes() == {}
