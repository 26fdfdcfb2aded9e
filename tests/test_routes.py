"""`vas-routed` on the real kernel: three hosts, one with two guests, a switch; paths that break."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_routing.daemon.saved_state import SRIOV
from vas_routing.links import Leg, PathState
from vas_tests.breaking import (
    tap_admin,
    tap_silent,
    vf_admin,
    vf_carrier,
    vf_silent,
    virtio_admin,
)
from vas_tests.routes import RoutedNet, wait

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HOLD_DOWN_MS = 400
# Milliseconds, of the median of some switches: the kernel's one lock for all networks of a machine
# may be another's for as long as that.
TIMES = 3
MOST_LOST_AT_VF_LOSS = 100
MOST_LOST_IN_SILENCE = 300
MOST_LOST_AT_VIRTIO_LOSS = 20
_DATAGRAMS, _SIZE = 20, 60_000
_SEND = """
import socket, time
out = socket.socket(type=socket.SOCK_DGRAM)
for _ in range({count}):
    out.sendto(bytes({size}), ("{address}", 9))
    time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutedNet]:
    """The small site, its daemons up."""
    directory = tmp_path_factory.mktemp("routes")
    with (
        NetLab.start(parse_cluster(yaml.safe_dump(net_site()), "net")) as net,
        RoutedNet.on(net, directory, {"hold_down_ms": HOLD_DOWN_MS}) as routed,
    ):
        routed.start_all()
        yield routed


@pytest.fixture
def site(running: RoutedNet) -> RoutedNet:
    """The same, all paths up; whatever the test before left broken."""
    running.wait_until_whole()
    return running


@pytest.mark.parametrize(
    ("source", "to", "device"),
    [
        ("vm1", "oss1", "virtio0"),
        ("vm1", "vm4", "virtio0"),
        ("oss1", "vm1", "virbr0"),
        ("vm1", "oss2", "vf0"),
        ("vm1", "vm2", "vf0"),
        ("oss1", "vm2", "pf0"),
        ("oss1", "oss2", "pf0"),
    ],
)
def test_packets_leave_by_the_right_interface(
    site: RoutedNet, source: str, to: str, device: str
) -> None:
    legs = {"vf0": "virtio0", "virtio0": "vf0", "pf0": "virbr0", "virbr0": "pf0"}
    with site.probed(source, to, 4000) as account:
        # Counted while the probe sends, however long it took to start.
        before = {leg: site.sent_by(source, leg) for leg in (legs[device], device)}
        wait(lambda: site.sent_by(source, device) > before[device] + 6000, "6000 packets")
        other = site.sent_by(source, legs[device]) - before[legs[device]]
    assert account[0].lost == 0
    # The daemons' probes go by both legs, 50 a second to each of a few nodes.
    assert other < 6000 / 2


LOSSES = [
    (vf_carrier, SRIOV, "oss2", MOST_LOST_AT_VF_LOSS),
    (vf_admin, SRIOV, "oss2", MOST_LOST_AT_VF_LOSS),
    (vf_silent, SRIOV, "oss2", MOST_LOST_IN_SILENCE),
    (tap_admin, "oss1", "oss1", MOST_LOST_AT_VIRTIO_LOSS),
    (tap_silent, "oss1", "oss1", MOST_LOST_AT_VIRTIO_LOSS),
    (virtio_admin, "oss1", "oss1", MOST_LOST_AT_VIRTIO_LOSS),
]


@pytest.mark.long
@pytest.mark.parametrize(("break_it", "path", "to", "most"), LOSSES)
def test_a_path_that_is_lost_is_left_and_used_again(
    site: RoutedNet, break_it: Callable[[RoutedNet, bool], None], path: str, to: str, most: int
) -> None:
    losses = [site.lose(path, to, break_it) for _ in range(TIMES)]
    print(break_it.__name__, losses)
    assert median(loss.near_ms for loss in losses) <= most
    assert median(loss.afar_ms for loss in losses) <= most


@pytest.mark.long
def test_both_paths_in_turn(site: RoutedNet) -> None:
    with site.streamed("vm1", "oss1"), site.streamed("vm2", "vm1"):
        for break_it, path in ((vf_carrier, SRIOV), (tap_admin, "oss1")) * 2:
            break_it(site, False)
            site.wait_for("vm1", path, PathState.DOWN)
            break_it(site, True)
            site.wait_until_whole()


@pytest.mark.long
def test_a_guest_that_was_started_again_is_reached_by_its_new_port(site: RoutedNet) -> None:
    """libvirt makes it another tap, so the port of the host's bridge has another index."""
    (nic,) = site.ip_json("vm1", "address", "show", "virtio0")
    had = [f"{each['local']}/{each['prefixlen']}" for each in nic["addr_info"]]
    site.ip("oss1", "link", "delete", "vnet0")
    site.wait_for("oss1", "vm1", PathState.DOWN)
    guest = ("peer", "name", "virtio0", "address", nic["address"], "netns", "vm1")
    site.ip("oss1", "link", "add", "vnet0", "type", "veth", *guest)
    site.ip("oss1", "link", "set", "vnet0", "master", "virbr0", "up")
    site.ip("vm1", "link", "set", "virtio0", "up")
    for address in had:
        site.ip("vm1", "address", "replace", address, "dev", "virtio0", "nodad")
    site.wait_until_whole()


def test_without_any_path_nothing_is_touched(site: RoutedNet) -> None:
    vf_carrier(site, False)
    site.wait_for("vm1", SRIOV, PathState.DOWN)
    before = site.ip("vm1", "route", "show", "table", "213")
    virtio_admin(site, False)
    site.wait_for("vm1", "oss1", PathState.DOWN)
    kept = site.ip("vm1", "rule"), site.ip("vm1", "addr", "show", "dev", "lo")
    assert "lookup 213" in kept[0] and site.address("vm1") in kept[1]
    vf_carrier(site, True)
    virtio_admin(site, True)
    site.wait_until_whole()
    assert "10.77.0.0/24" in before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill -9", "upgrade"])
def test_a_daemon_that_ends_takes_no_packet_along(site: RoutedNet, number: int) -> None:
    before = site.switches("oss1") + site.switches("vm1")
    routes = site.ip("vm1", "route", "show", "table", "213")
    with site.streamed("vm1", "oss1"), site.probed("vm1", "oss1") as account:
        site.signal("vm1", number)
        assert site.ip("vm1", "route", "show", "table", "213") == routes
        site.start_and_wait("vm1")
    assert account[0].lost == 0
    assert site.switches("oss1") + site.switches("vm1") == before, "a restart is no outage"


def test_a_dead_path_stays_dead_over_a_restart(site: RoutedNet) -> None:
    tap_silent(site, False)
    site.wait_for("vm1", "oss1", PathState.DOWN)
    site.wait_for("oss1", "vm1", PathState.DOWN)
    with site.probed("vm1", "oss1") as account:
        site.signal("vm1", signal.SIGKILL)
        site.start_and_wait("vm1")
    tap_silent(site, True)
    assert account[0].lost == 0


FLAP = """
import time
from pyroute2 import IPRoute
with IPRoute() as netlink:
    (index,) = netlink.link_lookup(ifname="virtio0")
    for number in range(40):
        netlink.link("set", index=index, state="up" if number % 2 else "down")
        time.sleep(0.05)
"""


def test_flapping_is_switched_away_from_once(site: RoutedNet) -> None:
    """20 times at 10 Hz: at most one switch away in a hold-down, and one back at the end."""
    before = len(switched(site, PathState.DOWN)), len(switched(site, PathState.UP))
    with site.streamed("vm1", "oss1"):
        site.python("vm1", FLAP)
        site.wait_until_whole()
    downs = switched(site, PathState.DOWN)[before[0] :]
    assert {line["path"] for line in downs} == {"virtio to oss1", "virtio to vm4"}
    assert len(switched(site, PathState.UP)) - before[1] == len(downs)
    for path in ("virtio to oss1", "virtio to vm4"):
        times = [stamp(line) for line in downs if line["path"] == path]
        assert all(later - earlier >= HOLD_DOWN_MS for earlier, later in pairwise(times)), downs


def switched(site: RoutedNet, state: PathState) -> list[dict[str, Any]]:
    """vm1's switches to a state, as its log has them."""
    lines = (line for line in site.log("vm1") if line["message"] == "path")
    return [line for line in lines if line["state"] == state]


def stamp(line: Mapping[str, str]) -> float:
    """When it was logged, in milliseconds."""
    return datetime.strptime(line["asctime"], "%Y-%m-%d %H:%M:%S,%f").timestamp() * 1e3


@pytest.mark.parametrize(("node", "other"), [("vm1", "oss1"), ("oss1", "vm1")])
@pytest.mark.parametrize("leg", list(Leg))
def test_one_side_that_switches_alone_is_no_black_hole(
    site: RoutedNet, node: str, other: str, leg: Leg
) -> None:
    path = SRIOV if leg is Leg.SRIOV else other
    with site.probed("vm1", "oss1") as account:
        with site.paused(other):
            site.route(node, "drain", leg)
            site.wait_for(node, path, PathState.DOWN)
        site.route(node, "drain", leg, "--undo")
        site.wait_until_whole()
    assert account[0].lost == 0


def test_what_others_take_away_is_put_back(site: RoutedNet) -> None:
    site.ip("vm1", "route", "flush", "table", "213")
    site.ip("vm1", "rule", "del", "table", "213")
    site.wait_until_whole()
    wait(lambda: "lookup 213" in site.ip("vm1", "rule"), "the rule is back")


def test_events_that_were_lost_are_made_up_for(site: RoutedNet) -> None:
    routes = [f"route add 10.99.{n // 250}.{n % 250 + 1}/32 dev vf0" for n in range(5000)]
    batch = site.directory / "batch"
    batch.write_text("\n".join([*routes, "route flush table 213"]))
    with site.paused("vm1"):
        site.ip("vm1", "-batch", str(batch))
    site.wait_until_whole()
    assert "overflow" in site.metrics("vm1"), "the kernel's buffer did not overflow"
    site.ip("vm1", "route", "flush", "root", "10.99.0.0/16")


def test_metrics(site: RoutedNet) -> None:
    text = site.metrics("vm1")
    assert 'vas_route_path_in_use{leg="virtio",peer="oss1"} 1.0' in text
    assert 'vas_route_path_up{leg="sriov",peer=""} 1.0' in text
    assert "vas_route_probe_rtt_seconds" in text and "vas_route_switches_total" in text


@pytest.mark.parametrize(("peer", "leg"), [("oss1", "virtio"), ("oss2", "sriov")])
def test_bytes_are_counted_by_the_leg_they_came_by(site: RoutedNet, peer: str, leg: str) -> None:
    """A guest's bytes from its own host are those by virtio, all others those by SR-IOV."""
    before = _received(site)
    site.python(peer, _SEND.format(address=site.address("vm1"), count=_DATAGRAMS, size=_SIZE))
    grown = {name: count - before[name] for name, count in _received(site).items()}
    (other,) = grown.keys() - {leg}
    assert grown[leg] >= _DATAGRAMS * _SIZE > grown[other], grown


def _received(site: RoutedNet) -> dict[str, float]:
    counter = 'vas_route_received_bytes_total{{leg="{}"}}'
    return {leg: site.metric("vm1", counter.format(leg)) for leg in Leg}


@pytest.fixture
def map_text(site: RoutedNet) -> Iterator[str]:
    """The map; put back afterwards."""
    text = site.map.read_text()
    yield text
    site.map.write_text(text)


def test_a_guest_that_moved(site: RoutedNet, map_text: str) -> None:
    """The map says that vm4 is on oss2 now: its routes on oss1's nodes go, without a restart.

    Daemons read a map at their own times. One that kept the moved map would not answer vm1 by
    virtio, so each map is changed only after every daemon has it in force.
    """
    moved = yaml.safe_load(map_text)
    guests = {host["name"]: host["guests"] for host in moved["hosts"]}
    guests["oss2"].append(guests["oss1"].pop())
    site.map.write_text(yaml.safe_dump(moved))
    wait_until_all_have_vm4_on(site, "oss2")
    address = site.address("vm4")
    wait(lambda: address not in site.ip("vm1", "route", "show", "table", "213"), "vm4's route gone")
    wait(lambda: address in site.ip("oss2", "route", "show", "table", "213"), "oss2 has vm4's")
    site.map.write_text(map_text)
    wait_until_all_have_vm4_on(site, "oss1")
    site.wait_until_whole()
    wait(lambda: address in site.ip("vm1", "route", "show", "table", "213"), "it is back")
    seen = len(site.log("vm1"))
    site.map.write_text("site: [")
    wait(lambda: any("not taken" in li["message"] for li in site.log("vm1")[seen:]), "refused")
    assert address in site.ip("vm1", "route", "show", "table", "213")


def wait_until_all_have_vm4_on(site: RoutedNet, host: str) -> None:
    """Until the map that each daemon has in force, and has kept, has vm4 on a host."""
    for node in site.nodes:
        what = f"{node}: a map with vm4 on {host}"
        wait(lambda node=node: has_vm4_on(site, node, host), what)  # type: ignore[misc]


def has_vm4_on(site: RoutedNet, node: str, host: str) -> bool:
    file = site.kept(node) / "last-good.json"
    if not file.exists():
        return False
    kept = json.loads(file.read_text())["told"]["cluster"]
    (found,) = (h["name"] for h in kept["hosts"] for g in h["guests"] if g["name"] == "vm4")
    return bool(found == host)


def test_commands_on_a_node(site: RoutedNet) -> None:
    assert "nothing to change" in site.route("vm1", "verify").stderr
    explained = site.route("vm1", "explain", "oss1").stdout
    assert "kernel  dev virtio0 via 169.254.213.1 src 10.77.0.21 table 213" in explained
    assert "virtio" in site.route("vm1", "show").stdout
    assert Path(site.state("vm1") / "journal.json").exists()
