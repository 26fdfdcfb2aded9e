"""Routes in the real kernel: VAS touches nobody else's, and no packet is lost."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from statistics import median

import pytest
import yaml

from vas_cluster import Cluster, parse_cluster
from vas_core.process import run
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_routing.daemon.saved_state import SRIOV
from vas_routing.links import Leg
from vas_tests.routes import RoutedNet, wait

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
HERE = Path(__file__).parent
SWITCHES = 150
THEIRS = """
addr add 192.0.2.1/24 dev virtio0
route add 198.51.100.0/24 via 192.0.2.2 dev virtio0 proto static
route add 10.77.0.12/32 dev vf0 proto 99 table 99
rule add pref 500 from 192.0.2.1 lookup 99 protocol 99
rule add from 192.0.2.77 lookup 99
neigh add proxy 192.0.2.50 dev virtio0
neigh add 192.0.2.3 lladdr 52:54:00:00:00:01 dev virtio0 nud permanent
"""
SYSCTLS = {"virtio0/rp_filter": "1", "vf0/arp_ignore": "2", "all/arp_announce": "1"}


@pytest.fixture(scope="module")
def net() -> Iterator[NetLab]:
    """The small site, without daemons."""
    with NetLab.start(small_site()) as started:
        yield started


@pytest.fixture
def site(net: NetLab, tmp_path: Path) -> Iterator[RoutedNet]:
    """With empty state directories."""
    with RoutedNet.on(net, tmp_path) as routed:
        yield routed


def small_site(version: int = 4) -> Cluster:
    """Three hosts, one with two guests; of IP version 6 too."""
    text = yaml.safe_dump(net_site())
    return parse_cluster(text.replace("10.77.0.", "fd00:77::") if version == 6 else text, "net")


def dump(site: RoutedNet, node: str) -> str:
    """All of a node's network, as text: what VAS is not to change."""
    wait(lambda: "tentative" not in site.ip(node, "-j", "addr"), "IPv6 addresses")
    asked = (
        ["addr"],
        ["-4", "route", "show", "table", "all"],
        ["-6", "route", "show", "table", "all"],
        ["-4", "rule"],
        ["-6", "rule"],
        ["neigh", "show", "proxy"],
        ["neigh", "show", "nud", "permanent"],
    )
    sysctls = run(site.net.enter(node, ["sysctl", "-a", "--pattern", r"^net\.ipv[46]\.conf"]))
    return "\n".join([*(site.ip(node, "-j", *words) for words in asked), sysctls.stdout])


def links(directory: Path, *, sriov: str = "up", virtio: str = "up", version: int = 4) -> str:
    """A links file of vm1."""
    file = directory / f"links-{sriov}-{virtio}.json"
    fabric = "10.77.0.0/24" if version == 4 else "fd00:77::/64"
    peers = {"oss1": virtio, "vm4": virtio}
    file.write_text(json.dumps({"sriov": sriov, "virtio": peers, "fabric": fabric}))
    return str(file)


@pytest.mark.long
def test_what_is_of_others_stays_to_the_byte(site: RoutedNet) -> None:
    (site.directory / "theirs").write_text(THEIRS)
    site.ip("vm1", "-batch", str(site.directory / "theirs"))
    for name, value in SYSCTLS.items():
        path = "net.ipv4.conf." + name.replace("/", ".")
        run(site.net.enter("vm1", ["sysctl", "-q", f"{path}={value}"]))
    before = dump(site, "vm1")
    for state in ({}, {"sriov": "down"}, {"virtio": "down"}):
        site.route("vm1", "apply", "--links", links(site.directory, **state))
        site.route("vm1", "verify", "--links", links(site.directory, **state))
        for line in json.loads(site.ip("vm1", "-j", "route", "show", "table", "99") or "[]"):
            assert line["dst"] == "10.77.0.12"
    assert dump(site, "vm1") != before
    site.route("vm1", "rollback")
    assert dump(site, "vm1") == before
    assert "the kernel has nothing of VAS's" in site.route("vm1", "rollback").stderr


def test_a_dry_run_changes_nothing(site: RoutedNet) -> None:
    before = dump(site, "vm2")
    planned = json.loads(site.route("vm2", "apply", "--dry-run", "--json").stdout)["changes"]
    assert dump(site, "vm2") == before and not site.state("vm2").exists()
    assert site.route("vm2", "verify", check=False).status == 3
    done = json.loads(site.route("vm2", "apply", "--json").stdout)["changes"]
    assert done == planned and len(done) > 10
    assert site.route("vm2", "verify").status == 0
    site.route("vm2", "rollback")


def test_a_leg_that_nobody_has_set_up_is_set_up_with_its_address(site: RoutedNet) -> None:
    """As a guest's is after its boot; who sets it down afterwards has a reason."""
    site.ip("vm2", "link", "set", "virtio0", "down")
    site.route("vm2", "apply")
    assert "UP" in flags(site, "vm2")
    site.ip("vm2", "link", "set", "virtio0", "down")
    site.route("vm2", "apply")
    assert "UP" not in flags(site, "vm2")
    site.ip("vm2", "link", "set", "virtio0", "up")
    site.route("vm2", "rollback")
    assert "UP" in flags(site, "vm2")


def flags(site: RoutedNet, node: str) -> list[str]:
    (leg,) = site.ip_json(node, "link", "show", "virtio0")
    return list(leg["flags"])


KILLED = """
import os, sys
from vas_routing import kernel
sent = []
def send(requests):
    if sys.argv[1] == "after": real(requests)
    os.kill(os.getpid(), 9)
real, kernel.send = kernel.send, send
from vas_core.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_rollback_after_kill_9_in_the_middle(site: RoutedNet, when: str) -> None:
    before = dump(site, "vm3")
    options = ["--cluster", site.map, "--node", "vm3", "--state", site.state("vm3")]
    argv = [sys.executable, "-c", KILLED, when, "route", "apply", *map(str, options)]
    assert run(site.net.enter("vm3", argv), check=False).status != 0
    assert dump(site, "vm3") != before, "it was killed before it began"
    site.route("vm3", "rollback")
    assert dump(site, "vm3") == before


def test_after_a_reboot_nothing_is_left_to_roll_back(site: RoutedNet) -> None:
    """/run is empty then, and so is the kernel: what the journal held is in force."""
    before = dump(site, "vm2")
    assert "the kernel has nothing of VAS's" in site.route("vm2", "rollback").stderr
    assert dump(site, "vm2") == before and not site.state("vm2").exists()


FLIP = """
import sys
from pathlib import Path
from vas_cluster import load_cluster
from vas_routing.kernel import RouteKernel
from vas_routing.links import Leg, read_links
from vas_routing.node import RoutedNode
from vas_routing.settings import RouteSettings
cluster, name, state, links = sys.argv[1:]
node = RoutedNode(load_cluster(Path(cluster)), name, RouteKernel(RouteSettings()), Path(state))
paths = read_links(Path(links))
choices = [{frozenset((name, p)): leg for p in paths.virtio} for leg in Leg]
states = [node.desired_state(paths, choice) for choice in choices]
print("ready", flush=True)
for line in sys.stdin:
    print(len(node.apply(states[int(line)])), flush=True)
"""


@pytest.mark.long
def test_switches_under_a_probe_lose_nothing(site: RoutedNet) -> None:
    """150 times to and fro, guest and host in turn, so that half of the time they disagree."""
    of = {"vm1": links(site.directory)}
    host = site.directory / "links-oss1.json"
    peers = {"vm1": "up", "vm4": "up"}
    host.write_text(json.dumps({"sriov": "up", "virtio": peers, "fabric": "10.77.0.0/24"}))
    of["oss1"] = str(host)
    changed = 0
    with (
        site.flipping("vm1", FLIP, of["vm1"]) as guest,
        site.flipping("oss1", FLIP, of["oss1"]) as owner,
        site.streamed("vm1", "oss1"),
        site.probed("vm1", "oss1") as account,
    ):
        for number in range(SWITCHES):
            for flip in (guest, owner):
                changed += flip(number % len(Leg))
            time.sleep(0.005)  # a packet or five by each way
    print(account)
    assert changed >= 2 * (SWITCHES - 1)
    assert (account[0].lost, account[0].sent > 1000) == (0, True)
    for node in of:
        site.route(node, "rollback")


MANY = """
import sys, time
from ipaddress import ip_address, ip_network
from pathlib import Path
from vas_core.journal import Journal
from vas_routing.kernel import RouteKernel
from vas_routing.plan import plan
from vas_routing.settings import RouteSettings
from vas_routing.desired import DesiredState, Route
routes = frozenset(
    Route(destination=ip_network(f"10.99.{n >> 8}.{n & 255}/32"), gateway=ip_address("10.77.0.11"),
          device="vf0", source=ip_address("10.77.0.22"), table=213) for n in range(10_000))
kernel = RouteKernel(RouteSettings())
for desired in (DesiredState(routes=routes), DesiredState()):
    with Journal.open(Path(sys.argv[1])) as journal:
        began = time.monotonic()
        changes = plan(kernel.found((), ()), desired)
        kernel.apply(changes, journal)
        left = plan(kernel.found((), ()), desired)
    print(len(changes), len(left), round(time.monotonic() - began, 2))
"""


@pytest.mark.long
def test_10_000_routes(site: RoutedNet) -> None:
    """Counted here; the seconds are printed, and in docs/routing.md."""
    argv = [sys.executable, "-c", MANY, str(site.directory / "journal")]
    done = run(site.net.enter("vm2", argv)).stdout.split()
    print(done)
    assert (done[0], done[1], done[3], done[4]) == ("10000", "0", "10000", "0")


def test_a_route_that_has_the_number_and_is_none_of_vas(site: RoutedNet) -> None:
    site.route("vm2", "apply")
    foreign = ["203.0.113.0/24", "dev", "vf0", "table", "7"]
    site.ip("vm2", "route", "add", *foreign, "proto", "213")
    before = dump(site, "vm2")
    for words in (["apply"], ["verify"], ["rollback"]):
        refused = site.route("vm2", *words, check=False)
        assert refused.status not in {0, 3} and "203.0.113.0/24" in refused.stderr
        assert "another protocol number" in refused.stderr and "Traceback" not in refused.stderr
    assert dump(site, "vm2") == before
    site.ip("vm2", "route", "del", *foreign)
    site.route("vm2", "rollback")


READ = """
import subprocess, sys
from pyroute2 import IPRoute
from vas_routing.dump import routes
with IPRoute() as netlink:
    names = {link["index"]: link.get("ifname") for link in netlink.get_links()}
reads = []
with subprocess.Popen(["ip", "-batch", sys.argv[1]]) as others:
    while others.poll() is None:
        reads.append(len(routes(213, names)))
assert others.returncode == 0
print(len(reads), min(reads), max(reads))
"""


def test_others_change_theirs_while_it_reads(site: RoutedNet) -> None:
    """What was read while the kernel's table changed may never have been: it is read again."""
    own = [f"10.99.{n >> 8}.{n & 255}/32" for n in range(2000)]
    shape = "via 10.77.0.11 dev vf0 proto 213 table 213 src 10.77.0.22"
    batch = site.directory / "own"
    batch.write_text("".join(f"route add {to} {shape}\n" for to in own))
    site.ip("vm2", "-batch", str(batch))
    batch.write_text(
        "route add 198.51.100.0/24 dev vf0 table 99\nroute del 198.51.100.0/24 table 99\n" * 20_000
    )
    done = run(site.net.enter("vm2", [sys.executable, "-c", READ, str(batch)])).stdout.split()
    print(done)
    assert int(done[0]) > 3 and done[1:] == ["2000", "2000"]
    site.route("vm2", "rollback")


@pytest.mark.long
def test_a_map_of_1000_hosts(site: RoutedNet) -> None:
    data = yaml.safe_load(site.map.read_text())
    first = ip_network("10.80.0.0/20")
    template = data["hosts"][1]
    for number in range(1000):
        more = json.loads(json.dumps(template)) | {"name": f"more{number}"}
        more |= {"address": str(first[2 * number + 1]), "osts": [100 + number]}
        more["nids"] = [f"{first[2 * number + 1]}@tcp"]
        del more["ha_partner"]
        guest = more["guests"][0]
        guest |= {"name": f"guest{number}", "address": str(first[2 * number + 2])}
        mac = f"52:54:01:{number >> 8:02x}:{number & 255:02x}"
        guest["macs"] = {"vf": f"{mac}:01", "virtio": f"{mac}:02"}
        data["hosts"].append(more)
    site.map.write_text(yaml.safe_dump(data))
    done = json.loads(site.route("vm1", "apply", "--json").stdout)["changes"]
    assert (
        sum(change["kind"] == "route" for change in done) == 3
    )  # its host, its sibling, the way out
    assert "kernel  dev vf0" in site.route("vm1", "explain", "oss2").stdout
    site.route("vm1", "rollback")


@pytest.mark.long
def test_ipv6(tmp_path: Path) -> None:
    with (
        NetLab.start(small_site(6)) as net,
        RoutedNet.on(net, tmp_path, {"hold_down_ms": 400}) as site,
    ):
        site.start_all()
        losses = [site.lose(SRIOV, "oss2", vf_admin) for _ in range(3)]
    print(losses)
    assert median(loss.near_ms for loss in losses) <= 100


def vf_admin(site: RoutedNet, up: bool) -> None:
    """The VF itself, set down in the guest."""
    site.ip("vm1", "link", "set", "vf0", "up" if up else "down")
