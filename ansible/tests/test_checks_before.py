"""What is found before anything is changed: all of it, each with its fix."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from modules import load

from vas_ansible.checks import Facts, examine_machine, fabric_mtus
from vas_ansible.checks.network import fabric
from vas_ansible.checks.room import IMAGE
from vas_cluster import load_cluster, parse_cluster
from vas_core.sizes import parse_size
from vas_routing.settings import RouteSettings

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "cluster/examples/four-oss.yaml"
SITE = load_cluster(EXAMPLE)
# Those of the inventory alone.
PURE = ("documents", "identity", "inventory")
OSS, GUEST = "oss01.hpc.example", "vas01.hpc.example"
GIB = 1 << 30
EXECUTOR = {"vas_hadoop_container_executor": "/srv/container-executor"}


def host(**changed: Any) -> Facts:
    interfaces = {
        "ens1f0": {"mtu": 9000, "addresses": ["10.10.0.11"], "vfs_total": 8, "vfs": 0},
        **changed.pop("interfaces", {}),
    }
    good = {
        "hostname": "oss01",
        "kernel": "5.14.0-427.13.1.el9_4.x86_64",
        "headers": True,
        "kvm": True,
        "iommu_groups": 40,
        "memory_bytes": 256 * GIB,
        "available_bytes": 250 * GIB,
        "huge_bytes": 0,
        "cpus": 48,
        "interfaces": interfaces,
        "routes": ["10.10.0.0/24"],
        "names": {},
        "synchronised": True,
        "clock": 0.0,
        "link_protection": {"fs.protected_hardlinks": 1, "fs.protected_symlinks": 1},
        "lustre": None,
        "ofed": None,
    }
    return Facts.model_validate(good | changed)


def checks(facts: Facts, node: str = OSS, **settings: object) -> list[str]:
    found = examine_machine(SITE, node, facts, settings)
    return [finding.check for finding in found if not finding.warns]


def test_a_good_host_has_nothing_wrong() -> None:
    assert checks(host()) == []


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"hostname": "oss02"}, "name"),
        ({"synchronised": False}, "time"),
        ({"kvm": False}, "kvm"),
        ({"iommu_groups": 0}, "iommu"),
        ({"memory_bytes": 80 * GIB}, "memory"),
        ({"available_bytes": 40 * GIB}, "memory"),
        ({"cpus": 16}, "cpus"),
        ({"routes": ["169.254.0.0/16"]}, "subnet"),
        ({"names": {"vas02.hpc.example": ["10.9.9.9"]}}, "dns"),
        ({"interfaces": {"vasbr0": {"mtu": 1500}}}, "mtu"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "addresses": ["10.10.0.11"]}}}, "vfs"),
        ({"interfaces": {"ens1f0": {"mtu": 9000, "vfs_total": 8}}}, "pf"),
    ],
)
def test_each_thing_that_is_wrong_is_found(changed: dict[str, Any], wrong: str) -> None:
    assert checks(host(**changed)) == [wrong]


def test_what_qemu_uses_beside_a_guest_s_memory_is_counted() -> None:
    exactly = parse_size("64GiB") * 4 // 3
    (found,) = examine_machine(SITE, OSS, host(memory_bytes=exactly), {})
    assert found.what.startswith("guests and their QEMU may use 65.4 GiB of 85.3 GiB")
    assert checks(host(memory_bytes=exactly + 2 * GIB)) == []


def test_disks_that_are_not_there_yet_need_room() -> None:
    (disk,) = SITE.host(OSS).guests[0].disks
    size_bytes = parse_size(disk.size)

    def free(free_bytes: int, *, image: bool = False, there: bool = False) -> Facts:
        place = {"device": 1, "free_bytes": free_bytes}
        files = {disk.path: {**place, "there": there}, IMAGE: {**place, "there": image}}
        return host(files=files)

    assert checks(free(size_bytes)) == []
    assert checks(free(size_bytes), image_bytes=1) == ["disk"]
    assert checks(free(size_bytes, image=True), image_bytes=1) == []
    assert checks(free(size_bytes - 1)) == ["disk"]
    assert checks(free(0, image=True, there=True), image_bytes=1) == []


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
    two = {**guest, "name": "vas09", "address": "10.10.0.99", "disks": []}
    two["macs"] = {"vf": "52:54:00:0a:01:99", "virtio": "52:54:00:0a:02:99"}
    value["hosts"][0]["guests"].append(two)
    site = parse_cluster(yaml.safe_dump(value), "two guests")
    pf = {"mtu": 9000, "addresses": ["10.10.0.11"], "vfs_total": 8}

    def found(vfs: int, *running: str) -> list[str]:
        facts = host(interfaces={"ens1f0": {**pf, "vfs": vfs}}, running=list(running), cpus=96)
        return [f.what for f in examine_machine(site, OSS, facts, {})]

    assert found(1, GUEST) == ["ens1f0 has 1 virtual functions now, for 2 guests"]
    assert found(1) == found(0, GUEST) == found(2, GUEST) == []


def test_every_check_of_machines_can_be_accepted_and_is_on_the_page() -> None:
    sources = (f for f in (ROOT / "ansible/vas_ansible/checks").glob("*.py") if f.stem not in PURE)
    made = {
        name for f in sources for name in re.findall(r'Finding\([\w.]+, "(\w+)"', f.read_text())
    }
    specs = (ROOT / "ansible/roles/hostcheck/meta/argument_specs.yml").read_text()
    options = yaml.safe_load(specs)["argument_specs"]["main"]["options"]
    assert set(options["vas_hostcheck_accepted"]["choices"]) == made
    page = (ROOT / "docs/provisioning.md").read_text()
    assert all(f"`{name}`" in page for name in made)


def test_legs_on_the_data_fabric_take_packets_of_one_length() -> None:
    short = {"ens1f0": {"mtu": 1500, "addresses": ["10.10.0.12"], "vfs_total": 8}}
    known = {OSS: host(), "oss02.hpc.example": host(interfaces=short), "yarn-rm": host()}
    mtus = fabric_mtus(SITE, known)
    assert mtus == {OSS: 9000, "oss02.hpc.example": 1500}
    assert checks(host(), mtus=mtus) == []
    facts = host(hostname="oss02", interfaces=short)
    (found,) = examine_machine(SITE, "oss02.hpc.example", facts, {"mtus": mtus})
    assert (found.check, found.what) == (
        "mtu",
        f"its leg on the data fabric takes 1500 bytes, and {OSS}'s 9000",
    )


@pytest.mark.parametrize(
    ("mtus", "wrong"),
    [
        ([9000, 1500, 1500, 1500], "oss01.hpc.example"),
        ([1500, 1500, 1500, 9000], "oss04.hpc.example"),
    ],
)
def test_of_servers_the_odd_one_is_named(mtus: list[int], wrong: str) -> None:
    legs = dict(zip((one.name for one in SITE.hosts), mtus, strict=True))
    named = [one.name for one in SITE.hosts if [*fabric(SITE, one.name, legs)]]
    assert named == [wrong]


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_guest_s_leg_is_held_to_its_server_s(mtu: int) -> None:
    assert not [*fabric(SITE, GUEST, {OSS: mtu, GUEST: mtu})]
    (found,) = fabric(SITE, GUEST, {OSS: mtu, GUEST: 4000})
    assert found.what == f"its leg on the data fabric takes 4000 bytes, and {OSS}'s {mtu}"
    assert "vas_guest_settings.mtu" in found.fix


def test_clocks_are_compared_with_the_controller_s() -> None:
    assert checks(host(clock=1000.0), now=1030.0) == []
    (found,) = examine_machine(SITE, OSS, host(clock=1000.0), {"now": 1300.0})
    assert found.what == "the clock is 300 s behind this machine's"


NEEDED = ["900-1000/tcp", f"{RouteSettings().probe_port}/udp"]


def chain(hook: str, *let_in: str, name: str = "inet filter x") -> dict[str, Any]:
    return {"name": name, "hook": hook, "open": list(let_in)}


@pytest.mark.parametrize(
    ("firewall", "wrong"),
    [
        ({"zones": {"ens1f0": {"zone": "public", "target": "default"}}}, ["firewall"]),
        ({"zones": {"ens1f0": {"zone": "public", "target": "default", "ports": NEEDED}}}, []),
        ({"chains": [{**chain("input"), "ports": {"*": NEEDED}}]}, []),
        ({"chains": [{**chain("input"), "ports": {"ens1f0": NEEDED}}]}, ["firewall"]),
        ({"zones": {"ens1f0": {"zone": "trusted", "target": "ACCEPT"}}}, []),
        ({"zones": {"eno1": {"zone": "public", "target": "default"}}}, []),
        ({"chains": [chain("input")]}, ["firewall"]),
        ({"chains": [chain("input", "ens1f0")]}, ["firewall"]),  # the bridge to come is left out
        ({"chains": [chain("input", "ens1f0", "vasbr0")]}, []),
        ({"zones": {"vasbr0": {"zone": "public", "target": "default"}}}, ["firewall"]),
        ({"zones": {"vasbr0": {"zone": "trusted", "target": "ACCEPT"}}}, []),
        ({"chains": [chain("forward")]}, []),
        ({"chains": [chain("forward")], "bridges_filtered": True}, ["firewall"]),
        ({"chains": [chain("forward", name="bridge filter x")]}, ["firewall"]),
        ({"chains": [chain("forward", "vasbr0")], "bridges_filtered": True}, []),
    ],
)
def test_a_firewall_that_is_in_the_way_is_named(firewall: dict[str, Any], wrong: list[str]) -> None:
    assert checks(host(firewall=firewall)) == wrong


MANAGER = "yarn-rm.hpc.example"


def manager(**changed: Any) -> Facts:
    eth0 = {"mtu": 1500, "addresses": ["10.10.0.5"]}
    return host(**{"hostname": "yarn-rm", "interfaces": {"eth0": eth0}, **changed})


def test_the_machine_of_the_resourcemanager_is_looked_at() -> None:
    assert checks(manager(), MANAGER) == []
    assert checks(manager(listening=[22, 8088]), MANAGER) == ["ports"]
    ours = manager(listening=[8088], units=["vas-resourcemanager.service"])
    assert checks(ours, MANAGER) == []
    assert checks(manager(memory_bytes=2 * GIB), MANAGER) == ["memory"]
    small = {"resourcemanager": "-Xmx512m", "jobhistory": "-Xmx512m"}
    assert checks(manager(memory_bytes=2 * GIB), MANAGER, vas_hadoop_heaps=small) == []
    assert checks(manager(interfaces={}), MANAGER) == ["address"]
    shut = {"zones": {"eth0": {"zone": "public", "target": "default"}}}
    assert checks(manager(firewall=shut), MANAGER) == ["firewall"]
    newer = manager(kernel="5.14.0-503.40.1.el9_5.x86_64")
    assert checks(newer, MANAGER, vas_lustre_client_version="2.16.0") == ["lustre"]


def test_without_names_of_vas_every_name_has_to_have_an_address() -> None:
    names = {node: [address] for node, address in _addresses().items()}
    given = {"vas_guest_base_hosts": False}
    assert checks(manager(names=names), MANAGER, **given) == []
    found = examine_machine(SITE, MANAGER, manager(names={**names, OSS: []}), given)
    assert [finding.what for finding in found] == [f"{OSS} has no address here"]


@pytest.mark.parametrize("address", ["127.0.1.1", "::1"])
def test_daemons_do_not_listen_at_a_name_of_their_own_that_nobody_reaches(address: str) -> None:
    names = {MANAGER: [address, "10.10.0.5"]}
    (found,) = examine_machine(SITE, MANAGER, manager(names=names), {})
    assert found.check == "dns" and f"its own name is {address} here" in found.what
    assert "/etc/hosts" in found.fix
    assert checks(guest(names={GUEST: ["10.10.0.111", address]}), GUEST) == ["dns"]
    assert checks(manager(names={MANAGER: ["10.10.0.5"], GUEST: [address]}), MANAGER) == []


def test_a_storage_server_may_have_a_name_of_its_own_that_nobody_reaches() -> None:
    assert checks(host(names={OSS: ["127.0.1.1"]})) == []
    assert checks(host(names={OSS: ["127.0.1.1", "10.9.9.9"]})) == ["dns"]
    assert checks(host(names={GUEST: ["127.0.1.1"]})) == ["dns"]


def _addresses() -> dict[str, str]:
    return {node.name: node.address for node in (*SITE.hosts, *SITE.guests())}


def test_all_are_found_at_once_each_with_its_fix() -> None:
    found = examine_machine(SITE, OSS, host(kvm=False, iommu_groups=0, cpus=2), {})
    assert [finding.check for finding in found] == ["kvm", "iommu", "cpus"]
    assert all(finding.fix and finding.line().startswith(OSS) for finding in found)


def test_what_a_lab_does_without_is_not_asked_for() -> None:
    bare = host(kvm=False, iommu_groups=0, interfaces={"ens1f0": {"mtu": 9000}})
    lab = {
        "vas_guest_settings": {"accelerator": "qemu", "virtual_function": False},
        "vas_storage_host_virtual_functions": False,
    }
    assert checks(bare) == ["pf", "kvm", "iommu", "vfs"]
    assert checks(bare, **lab) == ["pf"]
    assert checks(bare, **lab, vas_hostcheck_accepted=["pf"]) == []


def test_a_bridge_in_place_of_virtual_functions_has_to_be_there() -> None:
    settings = {"vas_guest_settings": {"virtual_function": False, "fabric_bridge": "fabric0"}}
    assert checks(host(), **settings) == ["fabric_bridge"]
    assert checks(host(interfaces={"fabric0": {"mtu": 9000}}), **settings) == []


def guest(**changed: Any) -> Facts:
    legs = {"ens1f0v0": {"mtu": 9000, "addresses": ["10.10.0.111"]}, "virtio0": {"mtu": 9000}}
    good = {"hostname": "vas01", "memory_bytes": 62 * GIB, "interfaces": legs}
    return host().model_copy(
        update=Facts.model_validate(host().model_dump() | good).__dict__ | changed
    )


@pytest.mark.parametrize("setting", ["fs.protected_hardlinks", "fs.protected_symlinks"])
@pytest.mark.parametrize("value", [0, None])
def test_a_kernel_that_follows_planted_links_is_named(setting: str, value: int | None) -> None:
    """S4: on a server and on a guest, each setting for itself, with its fix."""
    both = host().link_protection | {setting: value}
    assert checks(guest(link_protection=both), GUEST) == ["links"]
    (found,) = examine_machine(SITE, OSS, host(link_protection=both), {})
    assert found.check == "links" and not found.warns
    assert found.what.startswith(f"{setting} is {'not readable' if value is None else '0'}, ")
    assert found.fix == f"write `{setting} = 1` to /etc/sysctl.d/60-vas-links.conf; sysctl --system"


def test_lustre_has_to_fit_the_kernel_and_its_headers_be_there() -> None:
    assert checks(guest(), GUEST, vas_lustre_client_version="2.16.0") == []
    newer = guest(kernel="5.14.0-503.40.1.el9_5.x86_64", headers=False)
    wrong = checks(
        newer, GUEST, vas_lustre_client_version="2.16.0", vas_lustre_client_modules="dkms"
    )
    assert wrong == ["lustre", "headers"]
    assert checks(newer, GUEST, vas_lustre_client_version="2.17.0") == []


def test_a_guest_has_its_legs_and_its_memory() -> None:
    assert checks(guest(memory_bytes=32 * GIB), GUEST) == ["memory"]
    assert checks(guest(interfaces={}), GUEST) == ["vf"]


def test_a_guest_s_virtio_leg_is_found_by_its_mac() -> None:
    mac = SITE.guest(GUEST).macs.virtio
    legs = guest().model_dump()["interfaces"]
    del legs["virtio0"]

    def called(mtu: int, **more: Any) -> Facts:
        interfaces = legs | {"enp2s0": {"mtu": mtu, "mac": mac}}
        return host(
            **{"hostname": "vas01", "memory_bytes": 62 * GIB, "interfaces": interfaces, **more}
        )

    assert checks(called(9000), GUEST) == []
    assert checks(called(1500), GUEST) == ["mtu"]
    shut = {"zones": {"enp2s0": {"zone": "public", "target": "default"}}}
    assert checks(called(9000, firewall=shut), GUEST) == ["firewall"]


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
        accounts=Facts.model_validate(host().model_dump() | {"accounts": [account]}).accounts
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


def test_a_bridge_of_vass_own_gets_its_mtu_by_its_role() -> None:
    assert checks(host(interfaces={"vasbr0": {"mtu": 1500, "group": 213}})) == []


@pytest.mark.parametrize(
    "firewall",
    [
        {"zones": {"vasbr0": {"zone": "public", "target": "default"}}},
        {"chains": [chain("input")]},
    ],
)
def test_S3_a_server_is_told_to_open_two_ports_and_nothing_more(firewall: dict[str, Any]) -> None:
    (found,) = examine_machine(SITE, OSS, host(firewall=firewall), {})
    assert "988/tcp" in found.what and f"{RouteSettings().probe_port}/udp" in found.what
    assert "trusted" not in found.fix and "iifname" not in found.fix
    other = {"vas_route_switcher_settings": {"probe_port": 777}}
    (found,) = examine_machine(SITE, OSS, host(firewall=firewall), other)
    assert "777/udp" in found.what


OPEN = {"zone": "trusted", "target": "ACCEPT"}


@pytest.mark.parametrize(
    ("firewall", "named"),
    [
        ({}, True),
        ({"zones": {"vasbr0": OPEN}}, True),
        ({"zones": {"vasbr0": {**OPEN, "target": "DROP", "ports": NEEDED}}}, False),
        ({"chains": [{**chain("input"), "ports": {"*": NEEDED}}]}, False),
        ({"chains": [chain("input", "vasbr0", "ens1f0")]}, True),
        ({"guest_rules": True}, False),
    ],
)
def test_S3_what_guests_reach_for_nothing_is_a_warning(
    firewall: dict[str, Any], named: bool
) -> None:
    """The rule set's ports are no such, and without guests nobody is there to reach them."""
    facts = host(exposed=[22, 111, 988, 16509], firewall=firewall)
    warned = [one for one in examine_machine(SITE, OSS, facts, {}) if one.warns]
    assert [one.check for one in warned] == ["exposed"] * named
    for one in warned:
        assert "22 (sshd), 111 (rpcbind), 16509 (libvirtd)" in one.what
        assert f"vas provision firewall --node {OSS}" in one.fix


def test_S3_guests_let_the_map_s_nodes_in_not_everybody() -> None:
    zone = {"zone": "public", "target": "default"}

    def found(*sources: str) -> list[str]:
        legs = {"ens1f0v0": {**zone, "sources": sources}, "virtio0": {**zone, "sources": sources}}
        read = Facts.model_validate(host().model_dump() | {"firewall": {"zones": legs}}).firewall
        return [f.fix for f in examine_machine(SITE, GUEST, guest(firewall=read), {})]

    assert found("10.10.0.0/24") == []
    assert len(found("10.10.0.11")) == 2
    assert all("trusted" not in fix and "vas provision firewall" in fix for fix in found())


def nodemaps(*, active: bool = True, admin: bool, ranges: Any = ()) -> dict[str, Any]:
    maps = {"default": {"admin": admin}, "vas_guests": {"admin": False, "ranges": ranges}}
    return {"nodemaps_active": active, "nodemaps": maps}


@pytest.mark.parametrize(
    ("server", "wrong"),
    [
        ({}, False),
        (nodemaps(admin=True), True),
        (nodemaps(admin=False), False),
        (nodemaps(active=False, admin=False), True),
        (nodemaps(admin=True, ranges=[("10.10.0.111@tcp", "10.10.0.114@tcp")]), False),
        (nodemaps(admin=True, ranges=[("10.10.0.111@tcp", "10.10.0.113@tcp")]), True),
        (nodemaps(admin=True, ranges=[("10.10.0.111@o2ib", "10.10.0.114@o2ib")]), True),
    ],
)
def test_S3_guests_are_not_root_on_lustre(server: dict[str, Any], wrong: bool) -> None:
    assert checks(host(server=server)) == ["nodemap"] * wrong
    assert checks(host(server=server), vas_hostcheck_accepted=["nodemap"]) == []


@pytest.mark.parametrize(("group", "wrong"), [(0, True), (-1, False), (862, False)])
def test_R3_users_may_make_the_striped_directories_that_are_asked_for(
    group: int, wrong: bool
) -> None:
    facts = host(server={"remote_dir_gid": {"scratch-MDT0000": group}})
    asked = {"vas_hadoop_properties": {"vas.lustre.mdt-count": 2}}
    assert checks(facts) == []
    assert checks(facts, **asked) == ["mdt"] * wrong
    if wrong:
        (found,) = examine_machine(SITE, OSS, facts, asked)
        assert "lctl set_param -P mdt.*.enable_remote_dir_gid=-1" in found.fix


def test_R3_mdts_of_other_servers_are_not_forgotten() -> None:
    asked = {"vas_hadoop_properties": {"vas.lustre.mdt-count": "2"}}
    (found,) = examine_machine(SITE, MANAGER, manager(), asked)
    assert found.warns and "lctl get_param mdt.*.enable_remote_dir_gid" in found.fix
