"""The network of a lab without its daemons, made by `vas lab net` and from Python."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from vas_cluster import parse_cluster
from vas_core.errors import BadInput, VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_core.root import Root
from vas_lab.netlab import NetLab
from vas_lab.procfs import processes
from vas_lab.sites import net_site
from vas_tests.leftovers import mount_table, namespaces, namespaces_held

pytestmark = pytest.mark.slow

NET = [sys.executable, "-m", "vas_core", "lab", "net"]
CLUSTER = parse_cluster(yaml.safe_dump(net_site()), "net")


def assert_gone(seen: set[str], mounts: str) -> None:
    """No process is in any of these namespaces, and this process' mounts are as before."""

    def left() -> set[str]:
        return set().union(*(namespaces(process.pid) for process in processes(Root()))) & seen

    poll(left, lambda found: not found, 30, "its namespaces to vanish")
    assert mount_table() == mounts


def net(*words: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*NET, *options, "--", *words], check=False, capture_output=True, text=True
    )


def test_it_ends_with_the_commands_status_and_says_nothing() -> None:
    done = net("sh", "-c", "ip netns exec vm1 cat; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "")


def test_every_node_reaches_another_by_its_name() -> None:
    script = 'for node in oss1 oss2 vm1 vm2 vm3 vm4 rm; do ip netns exec "$node" "$@"; done'
    connect = "import socket; print(socket.socket().connect_ex(('oss3', 9)))"
    done = net("sh", "-c", script, "sh", sys.executable, "-c", connect)
    assert [int(number) for number in done.stdout.split()] == [errno.ECONNREFUSED] * 7


def test_the_map_is_inside() -> None:
    done = net("sh", "-c", 'cat "$VAS_CLUSTER"')
    assert parse_cluster(done.stdout, "its map") == CLUSTER


def test_from_python_a_program_runs_on_a_node_with_its_own_name_and_devices() -> None:
    mounts = mount_table()
    with NetLab.start(CLUSTER) as started:
        seen = namespaces(started.supervisor)
        own = run(started.enter("vm4", ["sh", "-c", "hostname; ls /sys/class/net; ip -j addr"]))
        hostname, *devices, addresses = own.stdout.splitlines()
        assert (hostname, devices) == ("vm4", ["lo", "vf0", "virtio0"])
        # The bridge's addresses are the switcher's.
        assert {
            (link["ifname"], of["local"])
            for link in json.loads(addresses)
            for of in link["addr_info"]
            if of["family"] == "inet"
        } == {("lo", "127.0.0.1"), ("vf0", "10.77.0.24")}
        assert run(started.enter(None, ["hostname"])).stdout == "rm\n"
        with pytest.raises(BadInput, match="no such node"):
            started.enter("vm5", ["true"])
    assert_gone(seen, mounts)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_it_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    mounts = mount_table()
    fifo = tmp_path / "up"
    os.mkfifo(fifo)
    begun = subprocess.Popen(
        [*NET, "--", "sh", "-c", 'echo up >"$1"; exec ip netns exec vm1 sleep 600', "sh", fifo]
    )
    assert fifo.read_text() == "up\n"
    with namespaces_held(begun.pid) as seen:
        assert len(seen) > 8
        begun.send_signal(number)
        begun.wait(30)
        assert_gone(seen, mounts)


def test_links_are_shaped_when_asked_for() -> None:
    show = ["ip", "netns", "exec", "vm1", "tc", "class", "show", "dev", "virtio0"]
    assert net(*show).stdout == ""
    rates = net(*show, options=["--shaped"]).stdout
    assert {word for word in rates.split() if word.endswith("bit")} == {
        "1520Mbit",
        "430Mbit",
        "720Mbit",
    }


def test_a_network_that_cannot_be_made_says_why() -> None:
    site = net_site()
    site["hosts"][0]["nics"]["pf"] = "up"  # iproute2 takes that for a word of its own
    refused = pytest.raises(VasError, match="does not come up")
    with refused, NetLab.start(parse_cluster(yaml.safe_dump(site), "net")):
        pass
