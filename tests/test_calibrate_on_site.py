"""`vas route calibrate` as on a site: with `vas-routed` on every node, and legs drained."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_lab.netlab import NetLab
from vas_lab.sites import net_site
from vas_tests.promptly import promptly

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3"),
]

ROUTE = [sys.executable, "-m", "vas_core", "route"]
CLUSTER = parse_cluster(yaml.safe_dump(net_site()), "net")


@pytest.fixture
def net() -> Iterator[NetLab]:
    """Shaped links; the switcher on the four nodes, iperf3 on three of them."""
    with NetLab.start(CLUSTER, shaped=True) as started, ExitStack() as running:

        def start(argv: Sequence[str]) -> None:
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(argv, stdout=quiet, stderr=quiet)
            running.callback(process.wait)
            running.callback(process.kill)

        for node in ("vm1", "oss1", "oss2", "vm2"):
            options = ["--metrics", "off", "--kept", f"/run/vas/kept-{node}"]
            start(promptly(started.enter(node, [*ROUTE, "daemon", *options])))
        for node in ("oss1", "oss2", "vm2"):
            start(started.enter(node, [*ROUTE, "calibrate", "--serve"]))
        for node in ("oss1", "oss2", "vm2"):
            listens = started.enter(node, ["ss", "-Hltn", "sport", "=", ":5201"])
            poll(lambda argv=listens: run(argv).stdout, bool, 60, f"iperf3 on {node}")
        poll(lambda: route(started, "verify").status, lambda found: found == 0, 60, "the routes")
        yield started


def route(net: NetLab, *words: str) -> Completed:
    return run(net.enter("vm1", [*ROUTE, *words]), check=False)


def test_the_daemon_is_steered_and_has_its_own_way_afterwards(net: NetLab) -> None:
    done = route(net, "calibrate", "--json", "--runs", "2", "--seconds", "1")
    assert done.status == 0, done.stderr
    choices = json.loads(done.stdout)["choices"]
    assert [(row["destination"], row["path"]) for row in choices] == [
        ("oss1", "virtio"),
        ("oss2", "sriov"),
        ("vm2", "sriov"),
    ]
    assert route(net, "verify").status == 0


def test_a_leg_that_is_drained_already_is_left_alone(net: NetLab) -> None:
    assert route(net, "drain", "sriov").status == 0
    done = route(net, "calibrate")
    assert done.status == 1
    assert "vm1: a leg is drained; `vas route drain sriov --undo` first" in done.stderr
