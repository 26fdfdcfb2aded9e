"""The network of a site's hosts: a bridge for the data fabric, and one on each storage server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vas_cluster import Cluster, Host
from vas_core.polling import poll
from vas_core.process import run
from vas_lab.network.shaping import shaping_of
from vas_tests.hosts.host import EmulatedHost

CONTROLLER = "10.213.0.1"
"""The address on the data fabric of the machine that runs Ansible."""


def wait_for_namespaces(pids: list[int]) -> None:
    """Waits until each process has a network namespace of its own. Raises VasError after 20 s."""
    own = Path("/proc/self/ns/net").readlink()

    def shared() -> list[int]:
        return [pid for pid in pids if Path(f"/proc/{pid}/ns/net").readlink() == own]

    poll(shared, lambda left: not left, 20.0, "namespaces")


def make_fabric(controller: int) -> None:
    """Makes the data fabric: a bridge in the network of process `controller`.

    Raises CommandFailed if `ip` fails.
    """
    _ip(controller, "link", "add", "fabric", "type", "bridge")
    _ip(controller, "address", "add", f"{CONTROLLER}/24", "dev", "fabric")
    _ip(controller, "link", "set", "fabric", "up")


def plug(
    controller: int, cluster: Cluster, machines: Mapping[str, EmulatedHost], name: str
) -> None:
    """Gives the machine `name` its interfaces. A storage server must be plugged before its guests.

    Raises CommandFailed if `ip` fails.
    """
    there = machines[name]
    served = {host.name: host for host in cluster.hosts}
    host = cluster.host_by_guest(name)
    if name in served:
        _leg(controller, there, served[name].nics.pf, served[name].address)
        there.in_net("ip", "link", "add", served[name].nics.bridge, "type", "bridge")
        there.in_net("ip", "link", "set", served[name].nics.bridge, "up")
    elif host is None:
        logins = {client.name: client.address for client in cluster.yarn.clients}
        _leg(controller, there, "eth0", logins.get(name, cluster.resourcemanager_address))
    else:
        guest = cluster.guest(name)
        _leg(controller, there, host.nics.vf, guest.address, guest.macs.vf)
        if host.name in machines:
            _virtio(host, machines[host.name], cluster, there)


def plug_tap(controller: int, name: str) -> None:
    """Plugs a leg into the fabric that the machine makes itself, as QEMU does.

    Raises VasError if the machine has not made it within a minute.
    """
    argv = [*_inside(controller), "link", "set", f"to-{name}", "master", "fabric", "up"]
    poll(lambda: run(argv, check=False).status == 0, bool, 60.0, f"{name}'s leg")


def unplugged(controller: int, name: str) -> None:
    """Waits until the kernel has removed the leg of a machine that ended.

    Raises VasError after 30 s.
    """
    argv = [*_inside(controller), "link", "show", f"to-{name}"]
    poll(lambda: run(argv, check=False).status, bool, 30.0, f"the end of {name}'s leg")


@contextmanager
def silent(controller: int, name: str) -> Iterator[None]:
    """Takes a machine's port out of the fabric for the body: its leg is dead, and has a carrier.

    Raises CommandFailed if `ip` fails.
    """
    _ip(controller, "link", "set", f"to-{name}", "nomaster")
    try:
        yield
    finally:
        _ip(controller, "link", "set", f"to-{name}", "master", "fabric")


def shape(cluster: Cluster, machines: Mapping[str, EmulatedHost]) -> None:
    """Makes the legs of servers and guests a tenth as fast as the paper's, as a lab's.

    Without it all are equally fast, and which of two is the faster one is chance. A machine that
    starts again is not shaped any more. Raises CommandFailed if `tc` fails.
    """
    nodes = {host.name: host.address for host in cluster.hosts}
    nodes |= {guest.name: guest.address for guest in cluster.guests()}
    taps = {guest.name: _tap(guest.name) for guest in cluster.guests()}
    for node, line in shaping_of(cluster, nodes, taps):
        machines[node].in_net("tc", *line.split())


def _leg(controller: int, there: EmulatedHost, leg: str, address: str, mac: str = "") -> None:
    """`mac`: the map's, so that a guest that comes back has the link-local address it had."""
    port = f"to-{there.name}"
    own = ("address", mac) if mac else ()
    peer = ("peer", "name", leg, *own, "netns", str(there.net))
    _ip(controller, "link", "add", port, "type", "veth", *peer)
    _ip(controller, "link", "set", port, "master", "fabric", "up")
    there.in_net("ip", "address", "add", f"{address}/24", "dev", leg)
    there.in_net("ip", "link", "set", leg, "up")


def _virtio(host: Host, server: EmulatedHost, cluster: Cluster, there: EmulatedHost) -> None:
    tap, mac = _tap(there.name), cluster.guest(there.name).macs.virtio
    # The same each time that the guest starts; libvirt's tap of the guest in libvirt has fe:...
    own = ("address", f"fa{mac[2:]}")
    nic = ("peer", "name", "virtio0", "address", mac, "netns", str(there.net))
    server.in_net("ip", "link", "add", tap, *own, "type", "veth", *nic)
    server.in_net("ip", "link", "set", tap, "master", host.nics.bridge, "up")
    there.in_net("ip", "link", "set", "virtio0", "up")


def _tap(guest: str) -> str:
    return f"tap-{guest}"


def _ip(controller: int, *words: str) -> None:
    run([*_inside(controller), *words])


def _inside(controller: int) -> list[str]:
    return ["nsenter", f"--target={controller}", "--net", "--", "ip"]
