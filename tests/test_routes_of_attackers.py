"""Hostile maps given to a running vas-routed by SIGHUP: the last good one stays in force.

Right for each: it is refused within a minute, counted, and named in the log in a line; all probe
sockets stay open, a silent death of the VF is noticed, and the good map is taken when it is back.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_routing.daemon.saved_state import SRIOV
from vas_routing.links import PathState
from vas_tests.adversary.planted import TERABYTE, YAML_BOMB
from vas_tests.breaking import vf_silent
from vas_tests.routes import RoutedNet, wait

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

REFUSED = 'vas_route_reloads_total{result="refused"}'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutedNet]:
    """The small site, its daemons up."""
    directory = tmp_path_factory.mktemp("routes")
    with (
        NetLab.start(parse_cluster(yaml.safe_dump(net_site()), "net")) as net,
        RoutedNet.on(net, directory, {"hold_down_ms": 400}) as routed,
    ):
        routed.start_all()
        yield routed


def _bomb(path: Path) -> None:
    path.write_text(YAML_BOMB)


def _nested(path: Path) -> None:
    path.write_text("hosts: " + "[" * 200_000)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(TERABYTE)


def _python(path: Path) -> None:
    path.write_text(f"site: !!python/object/apply:os.system ['touch {path}.owned']\n")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _bytes(path: Path) -> None:
    path.write_bytes(b"site: \xff\xfe\x00\n")


HOSTILE = [_bomb, _nested, _sparse, _python, _fifo, _directory, _loop, _zero, _bytes]


@pytest.mark.parametrize("plant", HOSTILE, ids=[plant.__name__[1:] for plant in HOSTILE])
def test_H7_a_hostile_map_leaves_the_last_good_one_in_force(
    site: RoutedNet, plant: Callable[[Path], None]
) -> None:
    good = site.map.read_text()
    before, taken = site.metric("vm1", REFUSED), _taken(site)
    try:
        site.map.unlink()
        plant(site.map)
        site.signal("vm1", signal.SIGHUP)
        wait(lambda: site.metric("vm1", REFUSED) > before, "refused")
        names = ("vas_route_probe_sockets", "vas_route_probe_sockets_expected")
        assert [site.metric("vm1", name) for name in names] == [2, 2]
        assert site.metric("vm1", "vas_route_map_current") == 0
        assert not site.map.with_name(f"{site.map.name}.owned").exists()
        vf_silent(site, False)
        site.wait_for("vm1", SRIOV, PathState.DOWN)
    finally:
        vf_silent(site, True)
        site.map.rmdir() if site.map.is_dir() else site.map.unlink()
        site.map.write_text(good)
    site.signal("vm1", signal.SIGHUP)
    wait(lambda: site.metric("vm1", "vas_route_map_current") == 1, "the good map again")
    assert _taken(site) >= taken
    site.wait_until_whole()


def _taken(site: RoutedNet) -> float:
    return site.metric("vm1", 'vas_route_reloads_total{result="done"}')
