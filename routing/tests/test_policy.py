"""The policy: single cases by their desired states, and all of them by walking the routes."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from site_map import site
from walk import GUESTS, NODES, World, all_up

from vas_core.errors import BadInput
from vas_routing.desired import DesiredState
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.policy import desired_state
from vas_routing.settings import MAIN_TABLE, RouteSettings

PAIRS = [frozenset(pair) for pair in (("vm1", "oss1"), ("vm4", "oss1"), ("vm1", "vm4"))]
worlds = st.builds(
    World,
    sriov=st.fixed_dictionaries({node: st.booleans() for node in NODES}),
    virtio=st.fixed_dictionaries({node: st.booleans() for node in GUESTS}),
    version=st.sampled_from((4, 6)),
    silent=st.booleans(),
    choices=st.dictionaries(st.sampled_from(PAIRS), st.sampled_from(Leg)),
)


@pytest.mark.unhurried
@settings(max_examples=400)
@given(worlds, st.sampled_from(sorted(NODES)), st.sampled_from(sorted(NODES)))
def test_no_loop_and_no_black_hole_whatever_works(world: World, source: str, to: str) -> None:
    way = world.walk(source, to)
    arrived = source == to or (bool(way) and way[-1][0] == to)
    assert arrived == (source == to or world.can_reach(source, to))


def test_virtio_on_the_same_host_and_sriov_elsewhere() -> None:
    world = all_up()
    assert world.walk("vm1", "oss1") == [("oss1", Leg.VIRTIO)]
    assert world.walk("oss1", "vm1") == [("vm1", Leg.VIRTIO)]
    assert world.walk("vm1", "vm4") == [("vm4", Leg.VIRTIO)]
    assert world.walk("vm1", "oss2") == [("oss2", Leg.SRIOV)]
    assert world.walk("vm1", "vm2") == [("vm2", Leg.SRIOV)]


def test_a_guest_without_its_vf_is_reached_by_its_host() -> None:
    world = all_up(sriov_vm1=False)
    assert world.walk("vm1", "vm2") == [("oss1", Leg.VIRTIO), ("vm2", Leg.SRIOV)]
    assert world.walk("vm2", "vm1") == [("oss1", Leg.SRIOV), ("vm1", Leg.VIRTIO)]
    assert [str(p.address) for p in world.desired_state("oss1").proxies] == ["10.77.0.21"]


def test_without_virtio_the_vf_goes_to_the_own_host() -> None:
    world = all_up(virtio_vm1=False)
    assert world.walk("vm1", "oss1") == [("oss1", Leg.SRIOV)]
    assert world.walk("oss1", "vm1") == [("vm1", Leg.SRIOV)]
    assert world.desired_state("vm1").routes == frozenset()


def test_without_any_path_nothing_is_touched() -> None:
    world = all_up(sriov_vm1=False, virtio_vm1=False)
    assert desired_state(site(), "vm1", world.links("vm1"), {}, RouteSettings()) is None


def test_what_was_measured_wins_while_both_work() -> None:
    faster = {frozenset(("vm1", "oss1")): Leg.SRIOV}
    world = World(all_up().sriov, all_up().virtio, choices=faster)
    assert world.walk("vm1", "oss1") == [("oss1", Leg.SRIOV)]
    assert world.walk("oss1", "vm1") == [("vm1", Leg.SRIOV)]
    broken = World(all_up(sriov_vm1=False).sriov, world.virtio, choices=faster)
    assert broken.walk("vm1", "oss1") == [("oss1", Leg.VIRTIO)]


def test_the_kernel_falls_back_by_itself() -> None:
    routes = all_up().desired_state("vm1").routes
    (fallback,) = (route for route in routes if route.table == MAIN_TABLE)
    assert (str(fallback.destination), fallback.metric) == ("10.77.0.0/24", 2000)
    assert fallback.gateway == ip_address("169.254.213.1")


def test_only_a_host_that_carries_a_guest_forwards() -> None:
    def forwards(found: DesiredState) -> bool:
        return any("forwarding" in sysctl.name for sysctl in found.sysctls)

    assert not forwards(all_up().desired_state("oss1"))
    assert forwards(all_up(sriov_vm1=False).desired_state("oss1"))
    assert not forwards(all_up(sriov_vm1=False).desired_state("vm1"))


def test_a_drained_vf_does_not_answer_for_the_guest() -> None:
    """It works, and would take what the host is to carry. One that is dead cannot; and one that
    comes back must answer, or nobody would hear that it is back."""
    world = all_up(sriov_vm1=False)

    def ignores(links: NodeLinks) -> str:
        found = desired_state(site(), "vm1", links, {}, RouteSettings())
        assert found is not None
        return next(s.value for s in found.sysctls if s.name.endswith("vf0/arp_ignore"))

    links = world.links("vm1")
    assert ignores(links) == "1"
    assert ignores(links.model_copy(update={"drained": {Leg.SRIOV}})) == "8"


def test_every_wish_has_a_reason() -> None:
    found = all_up(sriov_vm1=False).desired_state("oss1")
    kinds = (found.addresses, found.rules, found.routes, found.proxies, found.sysctls)
    assert all(one.reason for kind in kinds for one in kind)


def test_a_node_that_the_map_does_not_have_is_refused() -> None:
    for name, hint in (("vm9", "did you mean vm1"), ("elsewhere", "the map has: oss1, vm1, ")):
        with pytest.raises(BadInput, match=f"no host or guest is named {name}; {hint}"):
            desired_state(site(), name, all_up().links("vm1"), {}, RouteSettings())


def test_a_links_file_that_names_nodes_of_elsewhere_is_refused() -> None:
    links = all_up().links("vm1").model_copy(update={"virtio": {"oss2": PathState.UP}})
    with pytest.raises(BadInput, match="oss2 is not on the same host"):
        desired_state(site(), "vm1", links, {}, RouteSettings())
