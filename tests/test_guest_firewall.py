"""The rules of `vas provision firewall` in a kernel: what a guest reaches of its storage server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from vas_cluster import load_cluster
from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_routing.settings import RouteSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
    pytest.mark.skipif(shutil.which("nft") is None, reason="no nftables here"),
]
MAP = REPOSITORY / "cluster/examples/four-oss.yaml"
SERVER, GUEST, OTHER = "192.0.2.11", "192.0.2.111", "192.0.2.200"
PROBES = RouteSettings().probe_port
PORTS = (22, 111, 988, 9213)
# How long an answer that has to come may take, and how long one that must not come is waited for.
_PATIENCE_SECONDS, _SILENCE_SECONDS = 30, 1
# Each datagram that comes is answered; each connection is accepted.
_SERVE = """
import select, socket, sys
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", int(sys.argv[1])))
tcp = [socket.create_server(("0.0.0.0", int(port))) for port in sys.argv[2:]]
print("ready", flush=True)
while True:
    for one in select.select([udp, *tcp], [], [])[0]:
        if one is udp:
            udp.sendto(*udp.recvfrom(64))
        else:
            one.accept()[0].close()
"""
_ASK = """
import socket, sys
source, server, kind, port, seconds = sys.argv[1:]
one = socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
one.settimeout(float(seconds))
one.bind((source, 0))
one.connect((server, int(port)))
if kind == "udp":
    one.send(b"x")
    one.recv(64)
"""
# A router advertisement, as a guest's root can send it; the kernel fills the checksum in.
_ADVERTISE = """
import socket, struct
one = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
advertisement = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
one.sendto(advertisement, ("ff02::1", 0, 0, socket.if_nametoindex("far0")))
"""
_SET_UP = """
ip link set lo up
ip link add vasbr0 type veth peer name far0 netns "$1"
ip link add ens1f0 type veth peer name far1 netns "$1"
ip link set vasbr0 up
ip addr add 192.0.2.11/24 dev ens1f0
ip link set ens1f0 up
sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
sysctl -qw net.ipv4.conf.vasbr0.rp_filter=0 net.ipv4.conf.ens1f0.rp_filter=0
"""
_FAR = """
ip link set lo up
ip link set far0 up
ip link set far1 up
ip addr add 192.0.2.111/24 dev far1
ip addr add 192.0.2.200/24 dev far1
"""


class Net:
    """A network namespace with a process that holds it."""

    def __init__(self) -> None:
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        own = Path("/proc/self/ns/net").readlink()
        there = Path(f"/proc/{self.holder.pid}/ns/net")
        poll(there.readlink, lambda net: net != own, 10.0, "a namespace")

    def argv(self, *words: str) -> list[str]:
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--", *words]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.argv(*words), capture_output=True, text=True, **more)

    def end(self) -> None:
        self.holder.kill()
        self.holder.wait()


@pytest.fixture
def nets() -> Iterator[tuple[Net, Net]]:
    """A storage server that listens, and the far end of its cables."""
    server, far = Net(), Net()
    try:
        done = server.run("sh", "-euc", _SET_UP, "sh", str(far.holder.pid))
        assert done.returncode == 0, done.stderr
        assert far.run("sh", "-euc", _FAR).returncode == 0
        words = [sys.executable, "-c", _SERVE, str(PROBES), *map(str, PORTS)]
        serving = subprocess.Popen(server.argv(*words), stdout=subprocess.PIPE, text=True)
        assert serving.stdout is not None and serving.stdout.readline() == "ready\n"
        yield server, far
        serving.kill()
        serving.wait()
    finally:
        far.end()
        server.end()


def assert_reached(far: Net, source: str, *ports: int) -> None:
    """These ports answer a sender of that address, however late; no other one does."""
    asked = [("tcp", port) for port in PORTS] + [("udp", PROBES)]
    answered = []
    for kind, port in asked:
        seconds = _PATIENCE_SECONDS if port in ports else _SILENCE_SECONDS
        words = (source, SERVER, kind, str(port), str(seconds))
        if far.run(sys.executable, "-c", _ASK, *words).returncode == 0:
            answered.append(port)
    assert answered == [*ports]


def rules(*words: str) -> str:
    argv = [str(Path(sys.executable).with_name("vas")), "provision", "firewall"]
    argv += ["--cluster", str(MAP), "--node", "oss01.hpc.example", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def load(server: Net, text: str) -> None:
    done = server.run("nft", "-f", "-", input=text)
    assert done.returncode == 0, done.stderr


def by_the_bridge(far: Net, server: Net) -> None:
    """From now on the guest sends by its virtio leg, as to its own server."""
    for net, leg, to in ((far, "far0", SERVER), (server, "vasbr0", GUEST)):
        assert net.run("ip", "route", "add", f"{to}/32", "dev", leg).returncode == 0


def test_S3_guests_reach_lustre_and_the_probes_and_nothing_more(nets: tuple[Net, Net]) -> None:
    server, far = nets
    everything = (*PORTS, PROBES)
    assert_reached(far, GUEST, *everything)
    assert_reached(far, OTHER, *everything)
    load(server, rules())
    assert_reached(far, GUEST, 988, PROBES)
    assert_reached(far, OTHER, *everything)
    by_the_bridge(far, server)
    assert_reached(far, GUEST, 988, PROBES)


def test_S3_the_monitoring_machine_asks_the_daemons_and_no_guest_does(
    nets: tuple[Net, Net],
) -> None:
    server, far = nets
    load(server, rules("--monitoring", GUEST))
    assert_reached(far, GUEST, 988, 9213, PROBES)
    load(server, rules())
    assert_reached(far, GUEST, 988, PROBES)


def test_S3_hostcheck_knows_the_rules_when_they_are_there(nets: tuple[Net, Net]) -> None:
    sys.path.insert(0, str(REPOSITORY / "ansible/tests"))
    try:
        from modules import load as load_plugin
    finally:
        sys.path.pop(0)
    server, _ = nets
    facts = load_plugin("modules/vas_facts.py")

    def seen() -> bool:
        listed: Sequence[dict[str, object]] = json.loads(
            server.run("nft", "-j", "list", "ruleset").stdout
        )["nftables"]
        return bool(facts.has_guest_rules(listed))

    assert not seen()
    load(server, rules())
    assert seen()
    assert load_cluster(MAP).guest("vas01.hpc.example").address == GUEST


def default_router(server: Net) -> str:
    """The server's default route of IPv6, as a router advertised it; nothing without one."""
    return server.run("ip", "-6", "route", "show", "default", "dev", "vasbr0").stdout


def dropped(server: Net) -> int:
    """Packets of guests that the rules dropped."""
    listed = server.run("nft", "list", "chain", "inet", "vas_guests", "from_guests").stdout
    return int(re.search(r"counter packets (\d+)", listed)[1])  # type: ignore[index]


def test_S3_a_guest_is_no_router_of_its_server(nets: tuple[Net, Net]) -> None:
    server, far = nets
    words = ["net.ipv6.conf.vasbr0.accept_ra=2", "net.ipv6.conf.vasbr0.forwarding=0"]
    assert server.run("sysctl", "-qw", *words).returncode == 0

    def advertised() -> str:
        far.run(sys.executable, "-c", _ADVERTISE)
        return default_router(server)

    poll(advertised, bool, 15.0, "a router, while there are no rules")
    assert server.run("ip", "-6", "route", "flush", "default").returncode == 0
    load(server, rules())
    before = dropped(server)
    assert far.run(sys.executable, "-c", _ADVERTISE).returncode == 0
    poll(lambda: dropped(server), lambda packets: packets > before, 10.0, "the drop")
    assert default_router(server) == ""
