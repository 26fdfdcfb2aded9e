"""The rules between keys of a cluster map: uniqueness, pairs, references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vas_cluster.addresses import one_spelling
from vas_cluster.model import Cluster, Host
from vas_core.problems import KeyPath, KeyProblem, key_text

_FLOCK_OPTIONS = ("flock", "localflock", "noflock")
_NICS = ("pf", "vf", "bridge")
Occurrence = tuple[KeyPath, object]


def check_rules(cluster: Cluster) -> list[KeyProblem]:
    """Returns a problem for every rule that the map breaks."""
    return [
        *_duplicates(_names(cluster), "give every host and guest a name of its own"),
        *_duplicates(_addresses(cluster), "give every host and guest an address of its own"),
        *_duplicates(_macs(cluster), "give every NIC a MAC of its own"),
        *_duplicates(_nids(cluster), "a NID belongs to one host"),
        *_duplicates(_osts(cluster), "an OST is listed at the host that serves it normally"),
        *_duplicates(_queues(cluster), "give every queue a name of its own"),
        *_disks(cluster),
        *_disks_of_osts(cluster),
        *_interfaces(cluster),
        *_ha_pairs(cluster),
        *_resourcemanager(cluster),
        *_queue_shares(cluster),
        *_mount_options(cluster),
    ]


def _duplicates(occurrences: Iterable[Occurrence], fix: str) -> Iterator[KeyProblem]:
    first: dict[object, KeyPath] = {}
    for path, value in occurrences:
        before = first.setdefault(one_spelling(str(value)), path)
        if before is not path:
            yield KeyProblem(path, f"{value} is also {key_text(before)}", fix)


def _names(cluster: Cluster) -> Iterator[Occurrence]:
    for i, host in enumerate(cluster.hosts):
        yield ("hosts", i, "name"), host.name
        for k, guest in enumerate(host.guests):
            yield ("hosts", i, "guests", k, "name"), guest.name
    for i, client in enumerate(cluster.yarn.clients):
        yield ("yarn", "clients", i, "name"), client.name


def _addresses(cluster: Cluster) -> Iterator[Occurrence]:
    for i, host in enumerate(cluster.hosts):
        yield ("hosts", i, "address"), host.address
        for k, guest in enumerate(host.guests):
            yield ("hosts", i, "guests", k, "address"), guest.address
    manager = cluster.yarn.resourcemanager
    if manager.address and not _known_node(cluster, manager.name):
        yield ("yarn", "resourcemanager", "address"), manager.address
    for i, client in enumerate(cluster.yarn.clients):
        yield ("yarn", "clients", i, "address"), client.address


def _macs(cluster: Cluster) -> Iterator[Occurrence]:
    for i, host in enumerate(cluster.hosts):
        for k, guest in enumerate(host.guests):
            yield ("hosts", i, "guests", k, "macs", "vf"), guest.macs.vf
            yield ("hosts", i, "guests", k, "macs", "virtio"), guest.macs.virtio


def _nids(cluster: Cluster) -> Iterator[Occurrence]:
    for i, host in enumerate(cluster.hosts):
        for k, nid in enumerate(host.nids):
            yield ("hosts", i, "nids", k), nid


def _osts(cluster: Cluster) -> Iterator[Occurrence]:
    for i, host in enumerate(cluster.hosts):
        for k, index in enumerate(host.osts):
            yield ("hosts", i, "osts", k), index


def _queues(cluster: Cluster) -> Iterator[Occurrence]:
    for i, queue in enumerate(cluster.yarn.queues):
        yield ("yarn", "queues", i, "name"), queue.name


def _disks(cluster: Cluster) -> Iterator[KeyProblem]:
    for i, host in enumerate(cluster.hosts):
        paths = (
            (("hosts", i, "guests", k, "disks", n, "path"), disk.path)
            for k, guest in enumerate(host.guests)
            for n, disk in enumerate(guest.disks)
        )
        yield from _duplicates(paths, "give every disk a path of its own")


def _disks_of_osts(cluster: Cluster) -> Iterator[KeyProblem]:
    for i, host in enumerate(cluster.hosts):
        devices = host.storage_devices
        for k, guest in enumerate(host.guests):
            for n, disk in enumerate(guest.disks):
                if disk.path in devices:
                    device = key_text(("hosts", i, "storage_devices", devices.index(disk.path)))
                    yield KeyProblem(
                        ("hosts", i, "guests", k, "disks", n, "path"),
                        f"{disk.path} is also {device}",
                        "name a disk that no OST is on: a guest writes to its disks",
                    )


def _interfaces(cluster: Cluster) -> Iterator[KeyProblem]:
    for i, host in enumerate(cluster.hosts):
        nics = ((("hosts", i, "nics", key), getattr(host.nics, key)) for key in _NICS)
        yield from _duplicates(nics, "give every interface a name of its own")


def _ha_pairs(cluster: Cluster) -> Iterator[KeyProblem]:
    for i, host in enumerate(cluster.hosts):
        path = ("hosts", i, "ha_partner")
        if host.ha_partner is None:
            continue
        partner = cluster.host(host.ha_partner)
        if partner is None:
            yield KeyProblem(path, f"no host is named {host.ha_partner}", "name one of the hosts")
        elif partner is host:
            yield KeyProblem(
                path, f"{host.name} is its own partner", "name the other host of the pair"
            )
        elif partner.ha_partner is None or _is_other_host(cluster, partner, host):
            theirs = partner.ha_partner or "none"
            yield KeyProblem(
                path,
                f"{partner.name} is named, but the partner of {partner.name} is {theirs}",
                f"set ha_partner: {host.name} at {partner.name}",
            )


def _is_other_host(cluster: Cluster, partner: Host, host: Host) -> bool:
    # A partner whose own reference is broken is reported once, at that reference.
    theirs = cluster.host(partner.ha_partner or "")
    return theirs is not None and theirs is not partner and theirs is not host


def _resourcemanager(cluster: Cluster) -> Iterator[KeyProblem]:
    manager = cluster.yarn.resourcemanager
    known = _known_node(cluster, manager.name)
    if known is None and manager.address is None:
        yield KeyProblem(
            ("yarn", "resourcemanager", "name"),
            f"no host or guest is named {manager.name}",
            "add its address",
        )
    if known and manager.address and one_spelling(manager.address) != one_spelling(known):
        yield KeyProblem(
            ("yarn", "resourcemanager", "address"),
            f"{manager.address} is not the address of {manager.name}, which is {known}",
            "leave the address out",
        )


def _known_node(cluster: Cluster, name: str) -> str | None:
    if host := cluster.host(name):
        return host.address
    return cluster.guest(name).address if cluster.host_by_guest(name) else None


def _queue_shares(cluster: Cluster) -> Iterator[KeyProblem]:
    total = sum(queue.capacity for queue in cluster.yarn.queues)
    if total != 100:
        yield KeyProblem(
            ("yarn", "queues"),
            f"the capacities add up to {total}",
            "make them add up to 100",
        )


def _mount_options(cluster: Cluster) -> Iterator[KeyProblem]:
    for i, option in enumerate(cluster.lustre.mount_options):
        if option in _FLOCK_OPTIONS:
            yield KeyProblem(
                ("lustre", "mount_options", i), f"{option} is set by lustre.flock", "remove it here"
            )
