"""Checks a machine for everything that would stop the roles, or harm what the machine serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from vas_ansible.checks.accounts import examine_accounts, examine_users, same_users
from vas_ansible.checks.documents import as_written
from vas_ansible.checks.facts import MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_ansible.checks.firewall import (
    exposed,
    needed_ports,
    node_firewall,
    nodes_of,
    server_firewall,
)
from vas_ansible.checks.login import examine_login
from vas_ansible.checks.lustre import unfit
from vas_ansible.checks.mds import guests_root, striped_directories
from vas_ansible.checks.network import MANAGER_PORTS, NODE_PORTS, fabric, ports
from vas_ansible.checks.room import disks, heaps
from vas_cluster import Cluster, Guest, Host
from vas_cluster.virtio import VIRTIO_NIC, host_interface
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_guest.memory import limit_bytes
from vas_guest.settings import GuestSettings

# What a storage server keeps: a quarter, as the plans of `vas affinity` do, and 8 GiB at least.
_OSS_SHARE = 4
_OSS_LEAST_BYTES = 8 << 30
# Where a guest's virtio leg is not found by its MAC, as `vas-routed` has it.
# Of interfaces, as guests/systemd/vas-bridge@.service has it: those that VAS made.
_OWN_GROUP = 213
# What two clocks may differ by; Kerberos allows for 300 s.
_CLOCKS_SECONDS = 60
# What a user who may write into a directory could do there while the kernel setting is 0.
_PLANTED_LINKS = {
    "fs.protected_hardlinks": "link another user's file to a name that root writes to",
    "fs.protected_symlinks": "lead root elsewhere by a symbolic link in a directory like /tmp",
}
# libvirt's word for a guest whose processor is not the machine's.
_EMULATED = "qemu"


def examine_machine(
    cluster: Cluster, node: str, facts: MachineFacts, settings: Mapping[str, Any]
) -> list[CheckFinding]:
    """Finds everything wrong with a machine of the map, except what the site accepts.

    `settings` has the inventory's variables and: `now`, the controller's clock in seconds since
    1970; `image_bytes`, the size of the guests' image; `mtus`, the result of `fabric_mtus`;
    `numbers`, the result of `usual_numbers`.
    """
    found = [
        *_everywhere(node, facts, settings),
        *fabric(cluster, node, settings.get("mtus") or {}),
        *guests_root(cluster, node, facts.server),
        *striped_directories(cluster, node, facts.server, settings),
    ]
    is_login = node in {client.name for client in cluster.yarn.clients}
    if host := cluster.host(node):
        found += [*_host(host, facts, settings), *_names(cluster, node, facts)]
    elif is_login:
        users_count = bool(settings.get("vas_hadoop_container_executor"))
        found += examine_login(cluster, node, facts, users_count)
        found += [] if facts.site_lnet else _lustre(node, facts, settings)
    else:
        found += [*_lustre(node, facts, settings), *examine_accounts(node, facts.accounts)]
        found += _own_name(node, facts)
        if settings.get("vas_hadoop_container_executor"):  # else they all run as yarn
            found += examine_users(node, facts.users)
        if settings.get("vas_guest_base_hosts") is False:
            found += _names(cluster, node, facts, all_of_them=True)
    if host is None:
        found += same_users(node, facts.users, settings.get("numbers") or {})
    if parent := cluster.host_by_guest(node):
        found += _guest(parent, cluster.guest(node), facts, nodes_of(cluster))
    if node == cluster.yarn.resourcemanager.name:
        found += _manager(cluster, facts, settings)
    accepted = settings.get("vas_hostcheck_accepted") or ()
    return [finding for finding in found if finding.check not in accepted]


def _everywhere(
    node: str, facts: MachineFacts, settings: Mapping[str, Any]
) -> Iterator[CheckFinding]:
    if facts.hostname.partition(".")[0] != node.partition(".")[0]:
        what = f"the machine calls itself {facts.hostname}"
        yield CheckFinding(
            node, "name", what, f"hostnamectl set-hostname {node}, or correct the map"
        )
    if facts.synchronised is False:
        fix = "start chronyd there; leases and Kerberos need one time"
        yield CheckFinding(node, "time", "the clock is not synchronised", fix)
    ahead = facts.clock - settings.get("now", facts.clock)
    if abs(ahead) > _CLOCKS_SECONDS:
        side = "ahead of" if ahead > 0 else "behind"
        what = f"the clock is {abs(ahead):.0f} s {side} this machine's"
        yield CheckFinding(node, "time", what, "set it, and start chronyd on both")
    yield from _links(node, facts)


def _links(node: str, facts: MachineFacts) -> Iterator[CheckFinding]:
    """The kernel's protection against planted links, which most distributions switch on."""
    for setting, harm in _PLANTED_LINKS.items():
        value = facts.link_protection.get(setting)
        if value != 1:
            what = (
                f"{setting} is {'not readable' if value is None else value}, so a user may {harm}"
            )
            fix = f"add `{setting} = 1` to /etc/sysctl.d/99-vas-links.conf; sysctl --system"
            yield CheckFinding(node, "links", what, fix)


def _host(host: Host, facts: MachineFacts, settings: Mapping[str, Any]) -> Iterator[CheckFinding]:
    pf = facts.interfaces.get(host.nics.pf)
    if pf is None:
        fix = "correct hosts[].nics.pf in the map, or the cable"
        yield CheckFinding(host.name, "pf", f"has no interface {host.nics.pf}", fix)
    elif host.address not in pf.addresses:
        what = f"{host.nics.pf} has not the address {host.address}"
        yield CheckFinding(host.name, "pf", what, "give it that address, or correct the map")
    bridge = facts.interfaces.get(host.nics.bridge)
    if bridge and bridge.group != _OWN_GROUP:  # its own the role `storage_host` puts right
        yield from _legs(host.name, facts, (host.nics.pf, host.nics.bridge))
    yield from _bridge_network(host, facts)
    yield from _left_behind(host, facts)
    if host.guests:
        guests = settings.get("vas_guest_settings") or {}
        if guests.get("accelerator") != _EMULATED and not facts.kvm:
            fix = "enable virtualisation in the firmware, and load kvm_intel or kvm_amd"
            yield CheckFinding(host.name, "kvm", "has no /dev/kvm", fix)
        if settings.get("vas_storage_host_virtual_functions", True):
            yield from _virtual_functions(host, facts)
        bridge = guests.get("fabric_bridge")
        if bridge and bridge not in facts.interfaces:
            fix = f"make it, with {host.nics.pf} on it, or correct vas_guest_settings"
            yield CheckFinding(host.name, "fabric_bridge", f"has no bridge {bridge}", fix)
        yield from _room(host, facts, GuestSettings.model_validate(as_written(guests)))
        yield from disks(host, facts, settings.get("image_bytes") or 0)
        needed = needed_ports(host, settings)
        yield from server_firewall(host, facts, needed)
        yield from exposed(host, facts, needed)


def _left_behind(host: Host, facts: MachineFacts) -> Iterator[CheckFinding]:
    """Guests that the map has not, or not here: they run on, and nobody counts what they take."""
    for name in sorted({*facts.guests} - {guest.name for guest in host.guests}):
        fix = f"put it back into the map, or: virsh shutdown {name}; virsh undefine --nvram {name}"
        yield CheckFinding(host.name, "guests", f"VAS's guest {name} is not in the map for it", fix)


def _virtual_functions(host: Host, facts: MachineFacts) -> Iterator[CheckFinding]:
    if facts.iommu_groups == 0:
        fix = "enable VT-d or AMD-Vi in the firmware; on Intel boot with intel_iommu=on iommu=pt"
        yield CheckFinding(host.name, "iommu", "the IOMMU is off", fix)
    pf = facts.interfaces.get(host.nics.pf)
    if pf and (pf.vfs_total or 0) < len(host.guests):
        can = counted(pf.vfs_total or 0, "virtual function")
        what = f"{host.nics.pf} has {can} for {counted(len(host.guests), 'guest')}"
        fix = "enable SR-IOV in the firmware and in the adapter's own (mlxconfig, devlink)"
        yield CheckFinding(host.name, "vfs", what, fix)
        return
    in_use = [guest.name for guest in host.guests if guest.name in facts.running]
    if pf and in_use and 0 < (pf.vfs or 0) < len(host.guests):
        now = counted(pf.vfs or 0, "virtual function")
        what = f"{host.nics.pf} has {now} now, for {counted(len(host.guests), 'guest')}"
        fix = "their number changes only while nobody has one: for the next site.yml shut down "
        yield CheckFinding(host.name, "vfs", what, fix + ", ".join(in_use))


def _room(host: Host, facts: MachineFacts, settings: GuestSettings) -> Iterator[CheckFinding]:
    """Guests take no memory that the page cache of an OSS needs, and no core of its own."""
    asked = sum(limit_bytes(guest, settings) for guest in host.guests)
    kept = max(facts.memory_bytes // _OSS_SHARE, _OSS_LEAST_BYTES)
    if asked > facts.memory_bytes - kept:
        what = f"guests and their QEMU may use {format_size(asked)} of"
        what += f" {format_size(facts.memory_bytes)}, of which {format_size(kept)} are the storage"
        what += " server's"
        yield CheckFinding(host.name, "memory", what, "lower hosts[].guests[].memory in the map")
    else:
        yield from _left(host, facts)
    vcpus, left = sum(g.vcpus for g in host.guests), facts.cpus - max(1, facts.cpus // _OSS_SHARE)
    if vcpus > left:
        what = f"guests ask for {vcpus} CPUs of {facts.cpus}, {left} are not the storage server's"
        yield CheckFinding(host.name, "cpus", what, "lower hosts[].guests[].vcpus in the map")


def _left(host: Host, facts: MachineFacts) -> Iterator[CheckFinding]:
    """Guests that do not run yet need what programs leave, other people's guests among them."""
    asked = sum(guest.memory_bytes for guest in host.guests if guest.name not in facts.running)
    left = facts.available_bytes + facts.huge_bytes
    if asked > left:
        what = f"guests that do not run yet ask for {format_size(asked)}, and programs leave"
        what += f" {format_size(left)}"
        fix = "end other guests of this server, or lower hosts[].guests[].memory in the map"
        yield CheckFinding(host.name, "memory", what, fix)


def _bridge_network(host: Host, facts: MachineFacts) -> Iterator[CheckFinding]:
    network = host_interface().network
    own = facts.interfaces.get(host.nics.bridge)
    for to in facts.routes:
        theirs = ip_network(to)
        if theirs.version == network.version and theirs.overlaps(network) and own is None:
            what = f"there is a route to {to}, and VAS's bridge has {network}"
            yield CheckFinding(host.name, "subnet", what, "take that route away: it is link-local")


def _guest(
    parent: Host, guest: Guest, facts: MachineFacts, nodes: Sequence[str]
) -> Iterator[CheckFinding]:
    vf = facts.interfaces.get(parent.nics.vf)
    if vf is None:
        fix = "see that its host gave it one (`virsh dumpxml`), and the name in the map"
        yield CheckFinding(guest.name, "vf", f"has no interface {parent.nics.vf}", fix)
    elif guest.address not in vf.addresses:
        what = f"{parent.nics.vf} has not the address {guest.address}"
        yield CheckFinding(guest.name, "vf", what, "see its cloud-init, or correct the map")
    legs = (parent.nics.vf, _virtio(guest, facts))
    yield from _legs(guest.name, facts, legs)
    # The kernel keeps some for itself.
    if facts.memory_bytes < guest.memory_bytes * 9 // 10:
        what = f"has {format_size(facts.memory_bytes)}, and the map says {guest.memory}"
        yield CheckFinding(guest.name, "memory", what, "restart it with its present definition")

    yield from node_firewall(guest.name, facts, legs, nodes)
    yield from ports(guest.name, facts, "vas-nodemanager.service", NODE_PORTS)


def _virtio(guest: Guest, facts: MachineFacts) -> str:
    """The name of its virtio leg: it is called as its kernel likes."""
    mac = guest.macs.virtio
    return next((name for name, nic in facts.interfaces.items() if nic.mac == mac), VIRTIO_NIC)


def _manager(
    cluster: Cluster, facts: MachineFacts, settings: Mapping[str, Any]
) -> Iterator[CheckFinding]:
    """The ResourceManager's machine, be it a guest or one of its own."""
    node = cluster.yarn.resourcemanager.name
    yield from ports(node, facts, "vas-resourcemanager.service", MANAGER_PORTS)
    if cluster.host_by_guest(node) is None:
        yield from heaps(node, facts, settings.get("vas_hadoop_heaps") or {})
        address = cluster.resourcemanager_address
        leg = [name for name, nic in facts.interfaces.items() if address in nic.addresses]
        if not leg:
            what = f"no interface has the address {address}"
            yield CheckFinding(node, "address", what, "give it that address, or correct the map")
        yield from node_firewall(node, facts, leg, nodes_of(cluster))


def _legs(node: str, facts: MachineFacts, legs: tuple[str, ...]) -> Iterator[CheckFinding]:
    sizes = {leg: facts.interfaces[leg].mtu for leg in legs if leg in facts.interfaces}
    if len(set(sizes.values())) > 1:
        what = "the legs' MTUs differ: " + ", ".join(f"{leg} {mtu}" for leg, mtu in sizes.items())
        fix = "make them equal: long packets vanish when the path switches"
        yield CheckFinding(node, "mtu", what, fix)


def _names(
    cluster: Cluster, node: str, facts: MachineFacts, *, all_of_them: bool = False
) -> Iterator[CheckFinding]:
    """Names with another address than the map's; `all_of_them`: and names with none."""
    known = {host.name: host.address for host in cluster.hosts}
    known |= {guest.name: guest.address for guest in cluster.guests()}
    for name, address in known.items():
        found = facts.names.get(name)
        if all_of_them and not found:
            fix = "add it to the name server, or leave vas_guest_base_hosts on"
            yield CheckFinding(node, "dns", f"{name} has no address here", fix)
        if name == node:  # a loopback address of its own is `_own_name`'s, and harms no server
            found = [one for one in found or () if not ip_address(one).is_loopback]
        if found and address not in found:
            what = f"{name} is {' and '.join(found)} here, and {address} in the map"
            yield CheckFinding(node, "dns", what, "correct the name server, /etc/hosts, or the map")


def _own_name(node: str, facts: MachineFacts) -> Iterator[CheckFinding]:
    """YARN's daemons listen at the address of their own name: nobody else reaches a loopback one.

    Debian's installer and cloud-init write such a line into /etc/hosts.
    """
    looped = [address for address in facts.names.get(node, ()) if ip_address(address).is_loopback]
    if looped:
        what = f"its own name is {' and '.join(looped)} here, where YARN's daemons would listen"
        fix = "take the name out of that line of /etc/hosts (cloud-init: manage_etc_hosts: false)"
        yield CheckFinding(node, "dns", what, fix)


def _lustre(
    node: str, facts: MachineFacts, settings: Mapping[str, object]
) -> Iterator[CheckFinding]:
    version = str(settings.get("vas_lustre_client_version") or facts.lustre or "")
    if version and (why := unfit(version, facts.kernel)):
        fix = "boot an older kernel of the distribution, or take a newer Lustre"
        yield CheckFinding(node, "lustre", f"{why}; this is {facts.kernel}", fix)
    if settings.get("vas_lustre_client_modules") == "dkms" and not facts.headers:
        fix = f"install the headers of {facts.kernel}, or boot the kernel that has them"
        yield CheckFinding(node, "headers", f"no headers of the running kernel {facts.kernel}", fix)
    if facts.ofed and settings.get("vas_lustre_client_modules") == "kmod":
        what = f"OFED {facts.ofed} replaces the kernel's InfiniBand, which built modules are for"
        fix = "take vas_lustre_client_modules: dkms, or modules built for that OFED"
        yield CheckFinding(node, "ofed", what, fix)
