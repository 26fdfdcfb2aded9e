"""`vas cluster discover`: what a client and its servers tell, as a draft of a map."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from vas_cluster import parse_cluster
from vas_cluster.discover.client import SeenClient, read_client, with_own_nids
from vas_cluster.discover.command import _asked
from vas_cluster.discover.draft import draft
from vas_cluster.discover.server import Ask, SeenMachine, ask_server, interface_of
from vas_core.cli import run_command
from vas_core.errors import BadInput, VasError
from vas_core.root import Root

OSC = "sys/fs/lustre/osc"
IMPORTS = "sys/kernel/debug/lustre/osc"


def client(root: Path) -> SeenClient:
    """A client of two servers, a failover pair; OST 2 is read without its import file."""
    (root / "proc").mkdir(exist_ok=True)
    device = "192.0.2.1@tcp,192.0.2.1@o2ib:192.0.2.2@tcp:/scratch"
    mounts = f"sysfs /sys sysfs rw 0 0\n{device} /lustre/s lustre rw,flock,lazystatfs 0 0\n"
    (root / "proc/mounts").write_text(mounts)
    first, second = "192.0.2.11@tcp", "192.0.2.12@tcp"
    for index, (nid, other) in enumerate([(first, second), (second, first), (first, "")]):
        name = f"scratch-OST{index:04x}-osc-ff1a6a7c42f21000"
        (root / OSC / name).mkdir(parents=True)
        (root / OSC / name / "ost_conn_uuid").write_text(f"{nid}\n")
        if other:
            (root / IMPORTS / name).mkdir(parents=True)
            # As Lustre 2.16 prints it.
            text = f'import:\n    connection:\n       failover_nids: [ "{nid}", "{other}" ]\n'
            (root / IMPORTS / name / "import").write_text(text)
    (root / OSC / "scratch-OST0000-osc-MDT0000").mkdir()
    return read_client(Root(root))


def test_a_client_knows_its_servers_and_their_partners(tmp_path: Path) -> None:
    seen = client(tmp_path)
    assert (seen.fsname, seen.mount, seen.flock) == ("scratch", "/lustre/s", "flock")
    assert seen.mgs_nids == ("192.0.2.1@tcp", "192.0.2.1@o2ib", "192.0.2.2@tcp")
    assert [(s.nid, s.osts, s.failover_nids) for s in seen.servers] == [
        ("192.0.2.11@tcp", [0, 2], ["192.0.2.12@tcp"]),
        ("192.0.2.12@tcp", [1], ["192.0.2.11@tcp"]),
    ]


def test_without_one_mount_there_is_no_draft(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"mounts of Lustre: none; mount Lustre"):
        read_client(Root(tmp_path))
    (tmp_path / "proc").mkdir()
    lines = "".join(f"a@tcp:/f{i} /m{i} lustre rw 0 0\n" for i in range(2))
    (tmp_path / "proc/mounts").write_text(lines)
    with pytest.raises(BadInput, match=r"/m0, /m1; name the mount point"):
        read_client(Root(tmp_path))
    assert read_client(Root(tmp_path), "/m1").fsname == "f1"


def test_an_ipv6_mgs_is_one_nid(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    device = "2001:db8::1@tcp:2001:db8::2@tcp1:/f"
    (tmp_path / "proc/mounts").write_text(f"{device} /m lustre rw 0 0\n")
    assert read_client(Root(tmp_path)).mgs_nids == ("2001:db8::1@tcp", "2001:db8::2@tcp1")


def answers(address: str, name: str, **changed: str) -> Ask:
    """A server that answers as its programs do; `changed` by the program's name."""
    link = [{"ifname": "lo"}, {"ifname": "ens1f0", "addr_info": [{"local": address}]}]
    told = {
        "hostname": f"{name}\n",
        "ip": json.dumps(link),
        "cat /sys/class/net/ens1f0/device/sriov_totalvfs": "64\n",
        "cat /proc/meminfo": "MemTotal:       134217728 kB\nMemFree: 1 kB\n",
        "lctl": "osd-ldiskfs.scratch-OST0000.mntdev=/dev/mapper/o0\n"
        "osd-ldiskfs.other-OST0000.mntdev=/dev/sdz\n",
        "nproc": "32\n",
        **changed,
    }

    def ask(argv: Sequence[str]) -> str:
        key = " ".join(argv) if argv[0] == "cat" else argv[0]
        if told.get(key, "") == "":
            raise VasError("is not there", where=argv[0])
        return told[key]

    return ask


def test_a_server_tells_its_adapter_devices_and_size() -> None:
    seen = ask_server(answers("192.0.2.11", "oss01"), "192.0.2.11", "scratch")
    assert seen == SeenMachine(
        name="oss01",
        interface="ens1f0",
        most_vfs=64,
        devices=("/dev/mapper/o0",),
        memory_bytes=128 << 30,
        cpus=32,
    )


def test_what_a_server_does_not_tell_is_named() -> None:
    silent = ask_server(answers("192.0.2.11", "oss01", lctl=""), "192.0.2.11", "scratch")
    assert silent.devices == ()
    assert silent.unseen == ("its block devices: lctl: is not there",)
    gone = ask_server(answers("192.0.2.11", "", hostname=""), "192.0.2.11", "scratch")
    assert gone == SeenMachine(unseen=("its name: hostname: is not there",))
    assert interface_of("not JSON", "192.0.2.11") is None


def test_a_draft_is_a_map_once_it_is_filled_in(tmp_path: Path) -> None:
    seen = client(tmp_path)
    machines = [
        (server, ask_server(answers(f"192.0.2.1{i}", f"oss0{i}"), f"192.0.2.1{i}", "scratch"))
        for i, server in enumerate(seen.servers, 1)
    ]
    text = draft(seen, machines)
    rest = [line for line in text.splitlines() if "FILL IN" in line]
    assert [line.split()[3].rstrip(":") for line in rest] == ["guests", "guests", "resourcemanager"]
    named = "  resourcemanager: {name: rm, address: 192.0.2.5}\n  queues:"
    found = parse_cluster(text.replace("  queues:", named), "x")
    assert [host.ha_partner for host in found.hosts] == ["oss02", "oss01"]
    assert found.hosts[0].nics.vf == "ens1f0v0"
    assert found.hosts[0].osts == [0, 2]
    assert "128 GiB and 32 CPUs: a guest of 96GiB and 24 vcpus at most" in text


def test_a_server_that_was_not_seen_is_to_be_filled_in(tmp_path: Path) -> None:
    seen = client(tmp_path)
    machines = [(server, SeenMachine(unseen=("its name:\nno route",))) for server in seen.servers]
    text = draft(seen, machines)
    rest = [line.split()[3] for line in text.splitlines() if "FILL IN" in line]
    of_one = ["name:", "ha_partner:", "nics:", "storage_devices:", "guests:"]
    assert rest == [*of_one, *of_one, "resourcemanager:"]
    assert text.count("# Not seen: its name:\\nno route\n") == 2


def test_the_command_refuses_what_it_would_overwrite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "site.yaml"
    there.write_text("mine")
    assert run_command(["cluster", "discover", "--out", str(there)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert there.read_text() == "mine"
    assert run_command(["cluster", "discover", "--reach", "ssh root@oss1"]) == 2
    assert "has no {node}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        '[{"ifname": "eth0\\n    a: [b]", "addr_info": [{"local": "192.0.2.1"}]}]',
        '[{"ifname": "eth0; reboot", "addr_info": [{"local": "192.0.2.1"}]}]',
        '[{"ifname": "eth0", "addr_info": null}, 7]',
        '[{"ifname": "eth0", "addr_info": ["192.0.2.1"]}]',
    ],
)
def test_what_is_no_interface_of_the_kernel_is_none(text: str) -> None:
    assert interface_of(text, "192.0.2.1") is None


def client_on_a_server(root: Path) -> SeenClient:
    """A client on the first of the two servers, as Lustre names it there."""
    client(root)
    for index in (0, 2):
        name = f"scratch-OST{index:04x}-osc-ff1a6a7c42f21000"
        (root / OSC / name / "ost_conn_uuid").write_text("0@lo\n")
    return read_client(Root(root))


def test_a_client_on_a_server_is_drafted_with_the_servers_nid(tmp_path: Path) -> None:
    seen = with_own_nids(
        client_on_a_server(tmp_path), ["0@lo", "198.51.100.1@o2ib", "192.0.2.11@tcp"]
    )
    assert [(s.nid, s.osts, s.failover_nids) for s in seen.servers] == [
        ("192.0.2.11@tcp", [0, 2], ["192.0.2.12@tcp"]),
        ("192.0.2.12@tcp", [1], ["192.0.2.11@tcp"]),
    ]


def test_an_unknown_nid_of_this_machine_is_to_be_filled_in(tmp_path: Path) -> None:
    seen = with_own_nids(client_on_a_server(tmp_path), [])
    # A unit test may start no program: this server is not asked.
    machine = _asked(seen.servers[0], "ssh root@{node}", "scratch")
    text = draft(seen, [(seen.servers[0], machine), (seen.servers[1], SeenMachine())])
    assert "0@lo" not in text and "address: 0" not in text
    assert "# Not seen: it is this machine, whose address is not known" in text
    rest = [line.split()[3] for line in text.splitlines() if "FILL IN" in line]
    assert rest[:3] == ["address:", "nids:", "name:"]
