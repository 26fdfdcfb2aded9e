"""Checks of room, memory, functions and accounts for guests before any change."""

from __future__ import annotations

import pytest
import yaml
from machines import EXAMPLE, GIB, GUEST, OSS, SITE, checks, guest, host
from modules import load

from vas_ansible.checks import MachineFacts, examine_machine
from vas_ansible.checks.room import IMAGE
from vas_cluster import parse_cluster
from vas_core.sizes import parse_size

EXECUTOR = {"vas_hadoop_container_executor": "/srv/container-executor"}


def test_disks_that_are_not_there_yet_need_room() -> None:
    (disk,) = SITE.host(OSS).guests[0].disks
    size_bytes = parse_size(disk.size)

    def free(free_bytes: int, *, image: bool = False, there: bool = False) -> MachineFacts:
        place = {"device": 1, "free_bytes": free_bytes}
        files = {disk.path: {**place, "there": there}, IMAGE: {**place, "there": image}}
        return host(files=files)

    assert checks(free(size_bytes)) == []
    assert checks(free(size_bytes), image_bytes=1) == ["disk"]
    assert checks(free(size_bytes, image=True), image_bytes=1) == []
    assert checks(free(size_bytes - 1)) == ["disk"]
    assert checks(free(0, image=True, there=True), image_bytes=1) == []


def test_what_qemu_uses_beside_a_guest_s_memory_is_counted() -> None:
    exactly = parse_size("64GiB") * 4 // 3
    (found,) = examine_machine(SITE, OSS, host(memory_bytes=exactly), {})
    assert found.what.startswith("guests and their QEMU may use 65.4 GiB of 85.3 GiB")
    assert checks(host(memory_bytes=exactly + 2 * GIB)) == []


def test_a_guest_that_runs_has_its_memory_already() -> None:
    assert checks(host(available_bytes=40 * GIB, running=["vas01.hpc.example"])) == []


def test_a_guest_that_left_the_map_is_named() -> None:
    assert checks(host(guests=["vas01.hpc.example"])) == []
    facts = host(guests=["vas01.hpc.example", "vas02.hpc.example", "old1"])
    found = examine_machine(SITE, OSS, facts, {})
    assert [finding.check for finding in found] == ["guests", "guests"]
    assert found[0].what == "VAS's guest old1 is not in the map for it"
    assert "virsh undefine --nvram old1" in found[0].fix
    assert found[1].what.startswith("VAS's guest vas02.hpc.example")  # moved: it runs here still


def test_virtual_functions_of_guests_that_run_are_too_few_for_another_one() -> None:
    value = yaml.safe_load(EXAMPLE.read_text())
    (guest,) = value["hosts"][0]["guests"]
    two = {**guest, "name": "vas09", "address": "192.0.2.99", "disks": []}
    two["macs"] = {"vf": "52:54:00:0a:01:99", "virtio": "52:54:00:0a:02:99"}
    value["hosts"][0]["guests"].append(two)
    site = parse_cluster(yaml.safe_dump(value), "two guests")
    pf = {"mtu": 9000, "addresses": ["192.0.2.11"], "vfs_total": 8}

    def found(vfs: int, *running: str) -> list[str]:
        facts = host(interfaces={"ens1f0": {**pf, "vfs": vfs}}, running=list(running), cpus=96)
        return [f.what for f in examine_machine(site, OSS, facts, {})]

    assert found(1, GUEST) == ["ens1f0 has 1 virtual function now, for 2 guests"]
    assert found(1) == found(0, GUEST) == found(2, GUEST) == []


def test_a_guest_has_its_legs_and_its_memory() -> None:
    assert checks(guest(memory_bytes=32 * GIB), GUEST) == ["memory"]
    assert checks(guest(interfaces={}), GUEST) == ["vf"]


@pytest.mark.parametrize(
    ("found", "holder", "what"),
    [
        (860, "yarn", []),
        (None, None, []),
        (998, None, ["yarn is 998, and 860 on every node"]),
        (None, "nginx", ["860 is nginx's, and yarn's on every node"]),
    ],
)
def test_yarn_has_one_number_everywhere(
    found: int | None, holder: str | None, what: list[str]
) -> None:
    account = {"name": "yarn", "wanted": 860, "found": found, "holder": holder}
    facts = guest(
        accounts=MachineFacts.model_validate(host().model_dump() | {"accounts": [account]}).accounts
    )
    assert [finding.what for finding in examine_machine(SITE, GUEST, facts, {})] == what


@pytest.mark.parametrize(
    ("users", "what"),
    [
        ({"climate": 1000, "genomics": 70001}, []),
        ({"climate": None, "genomics": 2000}, ["nobody knows climate"]),
        ({"climate": 999, "genomics": 2000}, ["climate, whom the map's queues name, is below"]),
        ({"climate": 0, "genomics": None}, ["nobody knows genomics", "climate, whom"]),
    ],
)
def test_the_queues_users_are_there(users: dict[str, int | None], what: list[str]) -> None:
    found = examine_machine(SITE, GUEST, guest(users=users), EXECUTOR)
    assert [f.check for f in found] == ["users"] * len(what)
    assert all(finding.what.startswith(start) for finding, start in zip(found, what, strict=True))
    assert checks(guest(users=users), GUEST) == []  # all run as yarn
    assert checks(host(users=users), OSS, **EXECUTOR) == []


def test_a_user_s_number_is_read() -> None:
    read = load("modules/vas_facts.py")._uid
    assert (read("root"), read("nobody-has-this")) == (0, None)


def test_an_account_s_number_and_its_holder_are_read() -> None:
    read = load("modules/vas_facts.py")._account
    assert read("root", 0) == {"name": "root", "wanted": 0, "found": 0, "holder": "root"}
    assert read("nobody-has-this", 0)["found"] is None
    assert read("hadoop", 0)["holder"] == "root"
