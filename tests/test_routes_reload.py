"""`vas-routed` watches every path after a reload, a restart, a bad map and a rename."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_routing.daemon.saved_state import SRIOV
from vas_routing.links import PathState
from vas_tests.breaking import vf_silent
from vas_tests.routes import RoutedNet, wait

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]
# As in test_routes.py: of the median of three, as others may hold the kernel's lock.
MOST_LOST_IN_SILENCE = 300
SETTINGS = {"hold_down_ms": 400}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutedNet]:
    """The small site, its daemons up."""
    directory = tmp_path_factory.mktemp("routes")
    with (
        NetLab.start(parse_cluster(yaml.safe_dump(net_site()), "net")) as net,
        RoutedNet.on(net, directory, SETTINGS) as routed,
    ):
        routed.start_all()
        yield routed


@pytest.fixture
def site(running: RoutedNet) -> Iterator[RoutedNet]:
    """All paths up, with the right map before and after."""
    text = running.map.read_text()
    running.wait_until_whole()
    yield running
    vf_silent(running, True)
    running.map.write_text(text)
    for node in running.nodes:
        wait(lambda node=node: has_its_map(running, node), f"{node}: the map")  # type: ignore[misc]


def has_its_map(site: RoutedNet, node: str) -> bool:
    assert site.daemons[node].poll() is None, f"the daemon of {node} ended"
    return site.metric(node, "vas_route_map_current") == 1


def reloads(site: RoutedNet, result: str = "done", node: str = "vm1") -> float:
    return site.metric(node, f'vas_route_reloads_total{{result="{result}"}}')


def has_all_sockets(site: RoutedNet, node: str = "vm1") -> bool:
    names = ("vas_route_probe_sockets", "vas_route_probe_sockets_expected")
    return [site.metric(node, name) for name in names] == [2, 2]


def by_signal(site: RoutedNet) -> None:
    site.signal("vm1", signal.SIGHUP)


def by_map(site: RoutedNet) -> None:
    site.map.write_text(site.map.read_text() + "# another\n")


def by_settings(site: RoutedNet) -> None:
    site.config.write_text(yaml.safe_dump(SETTINGS | {"neighbours": 2}))


def test_H1_after_a_reload_a_silent_vf_death_is_noticed(site: RoutedNet) -> None:
    """Of signal, map and settings: the sockets are the same, and so is the time to notice."""
    losses = []
    for again in (by_signal, by_map, by_settings):
        before = reloads(site)
        again(site)
        wait(lambda before=before: reloads(site) > before, "a reload")  # type: ignore[misc]
        assert has_all_sockets(site), again.__name__
        site.wait_until_whole()
        losses.append(site.lose(SRIOV, "oss2", vf_silent))
    print(losses)
    assert median(loss.near_ms for loss in losses) <= MOST_LOST_IN_SILENCE
    assert median(loss.afar_ms for loss in losses) <= MOST_LOST_IN_SILENCE


def test_H1_a_map_that_cannot_be_live_leaves_the_sockets_as_they_are(site: RoutedNet) -> None:
    """It reads well, but has vm1 at an address that its VF does not have."""
    before = reloads(site, "refused")
    moved = yaml.safe_load(site.map.read_text())
    (guest,) = (g for h in moved["hosts"] for g in h["guests"] if g["name"] == "vm1")
    guest["address"] = "10.78.0.99"
    site.map.write_text(yaml.safe_dump(moved))
    wait(lambda: reloads(site, "refused") > before, "refused")
    assert has_all_sockets(site)
    assert not has_its_map(site, "vm1")
    vf_silent(site, False)
    site.wait_for("vm1", SRIOV, PathState.DOWN)


def bad(site: RoutedNet) -> None:
    site.map.write_text("site: [")


def gone(site: RoutedNet) -> None:
    site.map.unlink()


@pytest.mark.parametrize("spoil", [bad, gone])
def test_H7_a_restart_with_a_bad_map_goes_on_with_the_last_good_one(
    site: RoutedNet, spoil: Callable[[RoutedNet], None]
) -> None:
    kept = site.kept("vm1") / "last-good.json"
    wait(kept.exists, "the map is kept")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    spoil(site)
    wait(lambda: not has_its_map(site, "vm1"), "refused")
    site.signal("vm1", signal.SIGKILL)
    site.route("vm1", "rollback", "--cluster", str(good_map(site)))  # as a reboot does
    for entry in site.state("vm1").iterdir():
        entry.unlink()
    site.start("vm1")
    wait(lambda: reloads(site, "kept") == 1, "started with what was kept")
    site.wait_until_whole()
    assert has_all_sockets(site) and not has_its_map(site, "vm1")
    assert site.metric("vm1", "vas_route_map_age_seconds") > 0
    assert any("not taken" in line["message"] for line in site.log("vm1"))
    vf_silent(site, False)
    site.wait_for("vm1", SRIOV, PathState.DOWN)


def good_map(site: RoutedNet) -> Path:
    file = site.directory / "good.yaml"
    data = site.net.cluster.model_dump(mode="json", exclude_none=True)
    file.write_text(yaml.safe_dump(data))
    return file


RAISES = """
from vas_routing.options import RouteOptions
from pathlib import Path
read = RouteOptions.read
def sometimes(self):
    if "strange" in self.files.cluster.read_text():
        raise RuntimeError("a bug in a reader")
    return read(self)
RouteOptions.read = sometimes
"""


def test_H7_a_reading_that_fails_in_any_way_ends_no_daemon(site: RoutedNet) -> None:
    site.signal("vm1", signal.SIGKILL)
    site.start_and_wait("vm1", RAISES)
    site.wait_until_whole()
    text = site.map.read_text()
    strange = site.map.with_suffix(".new")
    strange.write_text(text + "# strange\n")
    strange.replace(site.map)  # at once: half a file would be refused as such
    what = "RuntimeError: a bug in a reader"
    wait(lambda: any(line.get("what") == what for line in site.log("vm1")), what)
    wait(lambda: reloads(site, "refused") == 1, "and it goes on")
    assert has_all_sockets(site)
    site.signal("vm1", signal.SIGKILL)
    site.start("vm1", RAISES)
    wait(lambda: reloads(site, "kept") == 1, "started with what was kept")
    assert has_all_sockets(site)


def renamed(site: RoutedNet, node: str, old: str, new: str) -> None:
    site.ip(node, "link", "set", old, "name", new)


@pytest.mark.parametrize(
    ("node", "leg"), [("vm1", "vf0"), ("vm1", "virtio0"), ("oss1", "pf0"), ("oss1", "virbr0")]
)
def test_H9_a_renamed_interface_stays_the_leg(site: RoutedNet, node: str, leg: str) -> None:
    """Also after a restart; and a rollback gives it back what it had under its old name."""
    journal = json.loads((site.state(node) / "journal.json").read_text())["entries"]
    had = {e["target"]: e["original"] for e in journal if e["target"].startswith("sysctl:")}
    before = site.switches(node)
    seen = len(site.log(node))
    renamed(site, node, leg, "leg9")
    wait(lambda: any(li["message"] == "renamed" for li in site.log(node)[seen:]), "noticed")
    site.wait_until_whole()
    assert site.switches(node) == before, "a rename is no outage"
    assert has_all_sockets(site, node)
    site.signal(node, signal.SIGTERM)
    site.start(node)
    wait(lambda: has_all_sockets(site, node), "open again")
    if leg == "vf0":
        vf_silent(site, False, device="leg9")
        site.wait_for("vm1", SRIOV, PathState.DOWN)
        vf_silent(site, True, device="leg9")
    site.wait_until_whole()
    assert site.route(node, "verify", check=False).status == 0
    site.signal(node, signal.SIGTERM)
    site.route(node, "rollback")
    for target, original in had.items():
        name = target.removeprefix("sysctl:").replace(f"/{leg}/", "/leg9/")
        now = site.python(node, f"print(open('/proc/sys/{name}').read())")
        assert now.strip() == original, name
    assert had and site.ip(node, "route", "show", "table", "213") == ""
    renamed(site, node, "leg9", leg)
    site.start(node)
    site.wait_until_whole()
