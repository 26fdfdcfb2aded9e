"""Checks a login node, from which users submit jobs and on which no daemon runs."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from vas_ansible.checks.facts import MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Cluster


def examine_login(
    cluster: Cluster, node: str, facts: MachineFacts, users_count: bool
) -> Iterator[CheckFinding]:
    """Finds what would keep a login node's users from submitting jobs.

    `users_count`: whether containers run as their users, so that names have a meaning here.
    """
    (address,) = (c.address for c in cluster.yarn.clients if c.name == node)
    if not any(address in nic.addresses for nic in facts.interfaces.values()):
        what = f"no interface has the address {address}"
        fix = "correct yarn.clients[].address in the map: guests let this address in"
        yield CheckFinding(node, "address", what, fix)
    yield from _names(cluster, node, facts)
    mount = str(cluster.lustre.mount)
    if facts.site_lnet and mount not in facts.lustre_mounts:
        what = f"its Lustre client has settings of the site's own, and no mount at {mount}"
        fix = f"mount {cluster.lustre.fsname} there; the role mounts nothing beside such a client"
        yield CheckFinding(node, "mount", what, fix)
    unknown = sorted(name for name, number in facts.users.items() if number is None)
    if users_count and unknown:
        what = f"nobody knows {', '.join(unknown)}, whom the map's queues name"
        fix = "if they are to submit jobs from here, let the node know them (sssd, useradd)"
        yield CheckFinding(node, "users", what, fix, warns=True)


def _names(cluster: Cluster, node: str, facts: MachineFacts) -> Iterator[CheckFinding]:
    """Names of machines that clients ask: a job's master answers by the name of its guest."""
    asked = {guest.name: guest.address for guest in cluster.guests()}
    asked[cluster.yarn.resourcemanager.name] = cluster.resourcemanager_address
    strangers = []
    for name, address in asked.items():
        found = facts.names.get(name, [])
        if not found:
            strangers.append(name)
        elif not any(ip_address(one) == ip_address(address) for one in found):
            what = f"{name} is {' and '.join(found)} here, and {address} in the map"
            yield CheckFinding(node, "dns", what, "correct the name server, /etc/hosts, or the map")
    if strangers:
        what = f"{', '.join(strangers)} {'has' if len(strangers) == 1 else 'have'} no address here"
        fix = "add the names to the name server or /etc/hosts: clients ask a job's master by them"
        yield CheckFinding(node, "dns", what, fix)
