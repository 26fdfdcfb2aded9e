"""Checks what Lustre's servers grant to guests: root's rights, and striped directories.

The parameters are of Lustre's manual (nodemap, chapter 29; enable_remote_dir_gid, chapter 14).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from vas_ansible.checks.facts import LustreServer
from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Cluster

MDT_COUNT = "vas.lustre.mdt-count"
_DEFAULT = "default"
_PARAMETER = "enable_remote_dir_gid"


def guests_root(cluster: Cluster, node: str, server: LustreServer) -> Iterator[CheckFinding]:
    """Finds guests whose root is root on the file system, by the nodemaps of this server."""
    if not server.nodemaps:
        return
    see = "docs/security.md has the commands for a nodemap that squashes root"
    if not server.nodemaps_active:
        what = "nodemaps are off: root of every guest, where users' code runs, is root on Lustre"
        yield CheckFinding(node, "nodemap", what, see)
        return
    by_map: dict[str, list[str]] = {}
    for guest in cluster.guests():
        network = cluster.hosts[0].nids[0].partition("@")[2]
        nid = f"{guest.address}@{network}"
        by_map.setdefault(_map_of(nid, server), []).append(guest.name)
    for name, guests in by_map.items():
        if name not in server.nodemaps or server.nodemaps[name].admin:
            what = f"root of {', '.join(guests)}, where users' code runs, is root on Lustre: the"
            yield CheckFinding(
                node, "nodemap", f"{what} nodemap {name} trusts its clients' root", see
            )


def striped_directories(
    cluster: Cluster, node: str, server: LustreServer, settings: Mapping[str, Any]
) -> Iterator[CheckFinding]:
    """Finds MDTs on which users may not make the striped directories that the site asks for.

    One warning, at the ResourceManager, where no MDT of the site can be looked at from here.
    """
    count = str((settings.get("vas_hadoop_properties") or {}).get(MDT_COUNT, 1))
    if not count.isdigit() or int(count) < 2:
        return
    for mdt, group in sorted(server.remote_dir_gid.items()):
        if group == 0:
            what = f"{mdt}.{_PARAMETER} is 0, so only root makes directories over {count} MDTs"
            fix = f"lctl set_param -P mdt.*.{_PARAMETER}=-1 on the MGS, or {MDT_COUNT}: 1"
            yield CheckFinding(node, "mdt", f"{what} ({MDT_COUNT})", fix)
    if node == cluster.yarn.resourcemanager.name:
        what = f"{MDT_COUNT} is {count}: MDTs of servers that are not in the map are not looked at"
        fix = f"`lctl get_param mdt.*.{_PARAMETER}` there has to say -1, or a group of all users"
        yield CheckFinding(node, "mdt", what, fix, warns=True)


def _map_of(nid: str, server: LustreServer) -> str:
    for name, nodemap in server.nodemaps.items():
        if any(_within(nid, *bounds) for bounds in nodemap.ranges):
            return name
    return _DEFAULT


def _within(nid: str, first: str, last: str) -> bool:
    """Whether a NID is in a range of one network; False for NIDs that are not IP addresses."""
    found = [re.fullmatch(r"([0-9a-fA-F.:]+)@(\w+)", text) for text in (nid, first, last)]
    if any(match is None for match in found):
        return False
    addresses = [ip_address(match[1]) for match in found if match]
    networks = {re.sub(r"(?<=[a-z])0$", "", match[2]) for match in found if match}
    if len(networks) > 1 or len({address.version for address in addresses}) > 1:
        return False
    one, low, high = (int(address) for address in addresses)
    return low <= one <= high
