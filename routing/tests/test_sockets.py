"""The probes' sockets on the loopback interface: kept, closed, opened again."""

from __future__ import annotations

import selectors
import socket
from ipaddress import ip_address

import pytest

from vas_routing.daemon.legsocket import Endpoint, LegSocket
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.sockets import LegSockets
from vas_routing.links import Leg

pytestmark = pytest.mark.machine
LO = socket.if_nametoindex("lo")


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def endpoint(port: int, address: str = "127.0.0.1") -> Endpoint:
    return Endpoint(LO, ip_address(address), port, "lo")


def sockets() -> tuple[LegSockets, RouteMetrics, selectors.BaseSelector]:
    metrics, selector = RouteMetrics(), selectors.DefaultSelector()
    return LegSockets(selector, lambda leg: None, metrics), metrics, selector


def counted(metrics: RouteMetrics) -> tuple[float | None, float | None]:
    names = ("vas_route_probe_sockets", "vas_route_probe_sockets_expected")
    first, second = (metrics.registry.get_sample_value(name) for name in names)
    return first, second


def test_H1_what_is_wanted_again_is_the_same_socket() -> None:
    held, metrics, selector = sockets()
    at = {Leg.VIRTIO: endpoint(free_port())}
    held.want(at)
    first = held.get(Leg.VIRTIO)
    held.want(dict(at))
    assert first is not None and held.get(Leg.VIRTIO) is first
    assert len(selector.get_map()) == 1 and counted(metrics) == (1, 1)
    held.want({Leg.VIRTIO: endpoint(free_port(), "127.0.0.2")})
    assert held.get(Leg.VIRTIO) is not first and counted(metrics) == (1, 1)
    held.want({})
    assert held.get(Leg.VIRTIO) is None and not selector.get_map() and counted(metrics) == (0, 0)


def test_H1_what_cannot_be_opened_is_tried_again() -> None:
    held, metrics, selector = sockets()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        held.want({Leg.VIRTIO: endpoint(other.getsockname()[1])})
        assert counted(metrics) == (0, 1), "the alarm"
        held.retry()
        assert counted(metrics) == (0, 1)
    held.retry()
    assert counted(metrics) == (1, 1) and len(selector.get_map()) == 1


def test_S2_another_port_does_not_reach_the_buffer_and_is_counted() -> None:
    held, _, _ = sockets()
    port = free_port()
    held.want({Leg.VIRTIO: endpoint(port)})
    one = held.get(Leg.VIRTIO)
    assert one is not None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        for _ in range(7):
            other.sendto(b"forged", ("127.0.0.1", port))
    one.send(b"own", ip_address("127.0.0.1"))
    assert list(one.received()) == [("127.0.0.1", b"own")]
    assert (held.dropped(), held.dropped()) == (7, 0)
    held.want({})


@pytest.mark.parametrize(("ttl", "is_near"), [(255, True), (254, False)])
def test_S2_what_a_router_has_passed_on_has_no_content(ttl: int, is_near: bool) -> None:
    """The sender's port and address are right: what counts is that it is a neighbour."""
    port = free_port()
    taken = LegSocket(endpoint(port))
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
            sender.bind(("127.0.0.2", port))
            sender.sendto(b"probe", ("127.0.0.1", port))
        assert list(taken.received()) == [("127.0.0.2", b"probe" if is_near else None)]
    finally:
        taken.close()
