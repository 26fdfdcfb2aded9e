"""What nodes of a site count: read by one command each, added up once for each machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_bench.site.nodes import NodeCounts, Nodes, cached, counted, sections
from vas_cluster import parse_cluster
from vas_core.errors import BadInput, VasError
from vas_lab.sites import lab_site_yaml

_NET = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0
   vf0: 1000 10 0 0 0 0 0 0 500 5 0 0 0 0 0 0
"""
# In the form of Lustre's lprocfs counters: name, samples, unit, least, most, sum, sum of squares.
_MDC = """snapshot_time             1763870000.123456789 secs.nsecs
start_time                1763860000.000000000 secs.nsecs
req_waittime              120 samples [usecs] 30 9000 40000 90000000
req_active                120 samples [reqs] 1 3 130 150
mds_close                 40 samples [usecs] 30 300 4000 900000
ldlm_ibits_enqueue        80 samples [reqs] 1 1 80 80
"""


def node(
    boot: str, cpu: str, *, cached_kib: int = 4, v1: bool = False, mdc: str = ""
) -> NodeCounts:
    """A node's files; `cpu` in microseconds."""
    usage = (
        {"/sys/fs/cgroup/cpuacct/cpuacct.usage": f"{cpu}000"}
        if v1
        else {"/sys/fs/cgroup/cpu.stat": f"usage_usec {cpu}\nuser_usec 1"}
    )
    return NodeCounts(
        {
            "/proc/sys/kernel/random/boot_id": boot,
            "/proc/net/dev": _NET,
            "/proc/meminfo": f"MemTotal: 9 kB\nCached:   {cached_kib} kB\n",
            **usage,
        },
        mdc,
    )


def test_files_of_one_answer() -> None:
    text = "==> /proc/a <==\none\ntwo\n\n==> /proc/b <==\n\n==> /c d <==\nthree\n"
    assert sections(text) == {"/proc/a": "one\ntwo", "/proc/b": "", "/c d": "three"}
    assert sections("") == {}


def test_two_machines_add_up() -> None:
    seen = [node("a", "100", mdc=_MDC), node("b", "20", v1=True, mdc=_MDC + _MDC)]
    device = "10 0 20 0 30 0 40 0 0 0 0"
    assert counted(seen, [device, device]).counted == {
        "network_received_bytes/vf0": 2000,
        "network_sent_bytes/vf0": 1000,
        "metadata_requests": 360,
        "cpu_microseconds": 120,
        "device_read_bytes": 40 * 512,
        "device_written_bytes": 80 * 512,
        "device_requests": 80,
    }
    assert cached(seen) == {"page_cache_bytes": 8 * 1024}


def test_where_no_cgroup_is_seen_ticks_are_counted() -> None:
    files = {"/proc/stat": "cpu  100 10 20 9999 999 1 2 0 0 0\ncpu0 100 10 20 9999 999 1 2 0 0 0"}
    assert counted([NodeCounts(files)], []).counted == {"cpu_microseconds": 133 * 10_000}


def test_nodes_of_one_machine_have_one_processor_and_one_page_cache() -> None:
    seen = [node("a", "100"), node("a", "100")]
    found = counted(seen, []).counted
    assert (found["cpu_microseconds"], found["network_sent_bytes/vf0"]) == (100, 1000)
    assert cached(seen) == {"page_cache_bytes": 4 * 1024}


def test_what_is_not_said_is_not_a_zero() -> None:
    assert counted([NodeCounts({})], []).counted == {}
    assert cached([NodeCounts({})]) == {}


CLUSTER = parse_cluster(lab_site_yaml(2), "lab")


def test_without_a_way_onto_nodes_nothing_is_counted_there() -> None:
    counters, caches = Nodes(CLUSTER, "").look()
    assert (counters.counted, caches) == ({}, {})


def test_a_way_has_to_name_the_node() -> None:
    with pytest.raises(BadInput, match=r"has no \{node\}; write it like 'ssh root@\{node\}'"):
        Nodes(CLUSTER, "ssh root")


@pytest.mark.machine
def test_nodes_are_read_through_the_command(tmp_path: Path) -> None:
    way = tmp_path / "way"
    way.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nshift\nexec "$@"\n')
    way.chmod(0o755)
    counters, caches = Nodes(CLUSTER, f"{way} {{node}}").look()
    assert caches["page_cache_bytes"] > 0
    assert counters.counted["cpu_microseconds"] > 0
    asked = (tmp_path / "asked").read_text()
    assert all(f"{guest.name} tail -v -n +1 /proc/" in asked for guest in CLUSTER.guests())


@pytest.mark.machine
def test_caches_of_guests_alone_or_of_servers_too(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    way = tmp_path / "way"
    way.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    way.chmod(0o755)
    nodes = Nodes(CLUSTER, f"{way} {{node}}")
    nodes.drop_caches(servers=False)
    guests = {f"{guest.name} sysctl -q -w vm.drop_caches=1" for guest in CLUSTER.guests()}
    assert set(asked.read_text().splitlines()) - guests == {"vm1 sync", "vm2 sync"}
    nodes.drop_caches(servers=True)
    hosts = {f"{host.name} sysctl -q -w vm.drop_caches=1" for host in CLUSTER.hosts}
    assert hosts <= set(asked.read_text().splitlines())


@pytest.mark.machine
def test_a_node_that_cannot_be_reached_is_named() -> None:
    with pytest.raises(VasError, match=r"vm1: nothing can be read there; try it by hand: false"):
        Nodes(CLUSTER, "false {node}").look()
