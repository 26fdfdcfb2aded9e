"""Probes that no daemon sent: from a guest's own address, with the right TTL, and replayed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_core.process import run
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_routing.daemon.saved_state import FILE, SRIOV
from vas_routing.links import PathState
from vas_tests.breaking import vf_carrier
from vas_tests.routes import RoutedNet, wait

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]
FORGER = Path(__file__).parent / "vas_tests/forger.py"
VIRTIO = ("169.254.213.1", "169.254.213.2", "virtio0")
# A path is dead after 75 missed probes, one and a half seconds: these tests are of forged packets,
# and a daemon that gets no core for 60 ms, or asks twice for a neighbour's MAC address, must not
# look like one whose path is dead. Whoever is silent here is so for three seconds.
PATIENT = {"hold_down_ms": 400, "probe_misses": 75}
SRIOV_LEG = ("10.77.0.11", "10.77.0.21", "vf0")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutedNet]:
    """The small site, its daemons up."""
    directory = tmp_path_factory.mktemp("routes")
    with (
        NetLab.start(parse_cluster(yaml.safe_dump(net_site()), "net")) as net,
        RoutedNet.on(net, directory, PATIENT) as routed,
    ):
        routed.start_all()
        yield routed


@pytest.fixture
def site(running: RoutedNet) -> RoutedNet:
    """All paths up."""
    running.wait_until_whole()
    return running


def forge(site: RoutedNet, kind: str, *words: str) -> str:
    """Runs the forger in vm1."""
    return run(site.net.enter("vm1", [sys.executable, str(FORGER), kind, *words])).stdout.strip()


def refused(site: RoutedNet, reason: str) -> float:
    return site.metric("oss1", f'vas_route_probes_refused_total{{reason="{reason}"}}')


def switches(site: RoutedNet) -> dict[str, int]:
    """How many changes of paths each node's daemon logged."""
    return {node: len(site.path_changes(node)) for node in site.nodes}


def switched_since(site: RoutedNet, before: dict[str, int]) -> list[dict[str, Any]]:
    """The changes of paths after those that `switches` counted: path, time and cause."""
    return [
        {"node": node} | change
        for node in site.nodes
        for change in site.path_changes(node)[before[node] :]
    ]


def carried(site: RoutedNet) -> str:
    """Whom oss1 answers for: guests that it believes to have lost their VF."""
    return site.ip("oss1", "neigh", "show", "proxy")


@pytest.mark.parametrize("leg", [VIRTIO, SRIOV_LEG], ids=["virtio", "sriov"])
def test_S2_what_a_user_forges_changes_no_path_and_is_counted(
    site: RoutedNet, leg: tuple[str, str, str]
) -> None:
    before, counted = switches(site), refused(site, "dropped")
    for _ in range(5):
        sent = int(forge(site, "user", *leg, "50"))
        assert carried(site) == ""
    wait(lambda: refused(site, "dropped") >= counted + sent, f"{sent} counted")
    assert not switched_since(site, before)
    assert any("no node sent" in line["message"] for line in site.log("oss1"))


def test_S2_root_without_the_key_changes_no_path_and_is_counted(site: RoutedNet) -> None:
    """From the probes' own port, as root of a guest can, or of any machine on the fabric."""
    before, counted = switches(site), refused(site, "signature")
    for leg in (VIRTIO, SRIOV_LEG):
        forge(site, "root", *leg, "50")
        assert carried(site) == ""
    wait(lambda: refused(site, "signature") >= counted + 100, "counted")
    assert refused(site, "format") >= 100
    assert not switched_since(site, before)


def test_S2_what_was_recorded_is_worth_nothing_later(site: RoutedNet) -> None:
    vf_carrier(site, False)
    site.wait_for("vm1", SRIOV, PathState.DOWN)
    wait(lambda: "10.77.0.21" in carried(site), "oss1 answers for vm1")
    told_down = forge(site, "record", "virtio0", "20").split()
    vf_carrier(site, True)
    site.wait_until_whole()
    before, counted = switches(site), refused(site, "stale")
    for _ in range(5):
        forge(site, "replay", *VIRTIO, *told_down)
        assert carried(site) == ""
    wait(lambda: refused(site, "stale") > counted, "counted")
    assert not switched_since(site, before)


OPEN = """
from vas_routing.daemon import legsocket, trust
from vas_routing.daemon.wire import decode
def believe(self, leg, sender, data):
    found = decode(data)
    return trust.HeardProbe(found[0], believed=True) if found else trust.Refusal.FORMAT
legsocket.LegSocket._take_only = lambda self, port: None
trust.Trust.verify = believe
trust.Trust.is_newest = lambda self, sender, probe: True
"""


def test_S2_with_the_guard_off_the_same_packets_cut_vm1_off_its_vf(site: RoutedNet) -> None:
    site.signal("oss1", signal.SIGTERM)
    site.start("oss1", OPEN)
    site.wait_until_whole()
    seen = site.switches("oss1")

    def hurt() -> bool:
        forge(site, "user", *VIRTIO, "200")
        return site.switches("oss1") > seen

    wait(hurt, "oss1 believes that its path to vm1 is down")
    site.signal("oss1", signal.SIGTERM)
    site.start("oss1")
    site.wait_until_whole()


def test_S2_a_key_that_others_may_read_is_not_used(site: RoutedNet) -> None:
    """The daemon runs, as without one: unsigned, which is an alarm; the others are not fooled."""
    key = site.directory / "open.key"
    key.write_text(site.key.read_text())
    key.chmod(0o644)
    before = switches(site)
    site.signal("oss1", signal.SIGTERM)
    site.start("oss1", key=key)
    wait(lambda: site.metric("oss1", "vas_route_key_refused") == 1, "refused")
    assert site.metric("oss1", "vas_route_probes_signed") == 0
    assert site.metric("vm1", "vas_route_probes_signed") == 1
    what = [li["what"] for li in site.log("oss1") if li["message"] == "probes are not signed"]
    assert "others may use it" in what[-1] and site.key.read_text().strip() not in what[-1]
    unsigned = 'vas_route_probes_refused_total{reason="unsigned"}'
    wait(lambda: site.metric("vm1", unsigned) > 300, "vm1 believes none of it")
    key.chmod(0o600)
    site.signal("oss1", signal.SIGHUP)
    wait(lambda: site.metric("oss1", "vas_route_probes_signed") == 1, "signed")
    site.wait_until_whole()
    assert not switched_since(site, before), "half of the nodes without a key took a leg down"


def test_S2_half_of_the_nodes_still_old_takes_no_leg_down(site: RoutedNet) -> None:
    """oss1 is upgraded first: its neighbours, which answered the old one, are silent for it."""
    for node in ("oss1", "oss2", "oss3"):
        site.signal(node, signal.SIGTERM)
    memory = site.saved_state("oss1")
    assert {name for _, name in memory.heard} >= {"oss2", "oss3", "vm1"}
    old = memory.model_copy(update={"trusted": frozenset()})
    (site.state("oss1") / FILE).write_text(old.model_dump_json())
    before = site.switches("oss1")
    site.start("oss1")
    rtt = 'vas_route_probe_rtt_seconds{leg="virtio",peer="vm1"}'
    wait(lambda: site.metric("oss1", rtt) > 0, "its guest answers by virtio")
    with site.probed("vm1", "oss1") as account:
        sent = site.sent_by("vm1", "virtio0")
        wait(lambda: site.sent_by("vm1", "virtio0") > sent + 3000, "three seconds")
    assert site.saved_state("oss1").paths[SRIOV] is PathState.UP
    assert (site.switches("oss1"), account[0].lost) == (before, 0)
    for node in ("oss2", "oss3"):
        site.start(node)
    site.wait_until_whole()
