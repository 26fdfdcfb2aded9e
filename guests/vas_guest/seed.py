"""Makes a guest's cloud-init seed (NoCloud), which configures it at its first start. Pure.

It has names, addresses and public keys; nothing in it is a secret.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_interface
from typing import Any

import yaml

from vas_cluster import Cluster, Guest
from vas_guest.domain import guest_uuid
from vas_guest.settings import Accelerator, GuestSettings

USER = "vas"
# cloud-init's schema takes no empty list, and without `users` there would be the distribution's.
NOBODY: list[list[str]] = [[]]
"""The value of `users` that makes no user."""
# An emulated processor needs longer for a probe than 20 ms, the default: the daemon, whose priority
# is real-time, would leave it no time for anything else.
_EMULATED = "probe_interval_ms: 2000\n"


@dataclass(frozen=True)
class SeedAdditions:
    """Additions to a seed beyond the map: files (path -> text), and commands at its end."""

    files: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[Sequence[str]] = ()


def seed_files(
    cluster: Cluster,
    map_text: str,
    guest: Guest,
    settings: GuestSettings,
    more: SeedAdditions | None = None,
) -> dict[str, str]:
    """Returns the files of a guest's seed: name -> text.

    `map_text` is cluster.yaml as it is written, for the guest's own copy.
    """
    user_data = _user_data(cluster, map_text, guest, settings, more or SeedAdditions())
    meta = {"instance-id": guest_uuid(cluster, guest), "local-hostname": guest.name}
    return {
        "meta-data": json.dumps(meta) + "\n",
        "network-config": _yaml(_network(cluster, guest, settings)),
        "user-data": "#cloud-config\n" + _yaml(user_data),
    }


def _user_data(
    cluster: Cluster, map_text: str, guest: Guest, settings: GuestSettings, more: SeedAdditions
) -> dict[str, Any]:
    # vas-routed starts as soon as the map is there: its settings come before.
    files = {"/etc/vas/route.yaml": _EMULATED} if settings.accelerator is Accelerator.TCG else {}
    files |= {"/etc/vas/cluster.yaml": map_text, "/etc/hosts": hosts_file(cluster)}
    if settings.on_fabric:
        vf = _nic(cluster, guest)
        # Without a carrier vas-routed routes around the VF: the address has to stay.
        files[f"/etc/systemd/network/10-cloud-init-{vf}.network.d/vas.conf"] = (
            "[Network]\nConfigureWithoutCarrier=yes\nIgnoreCarrierLoss=yes\n"
        )
    user = {
        "name": USER,
        "gecos": "VAS administrator",
        "lock_passwd": True,
        "shell": "/bin/bash",
        "sudo": "ALL=(ALL) NOPASSWD:ALL",
        "ssh_authorized_keys": settings.authorized_keys,
    }
    commands = [list(words) for words in more.commands]
    return {
        "fqdn": guest.name,
        "preserve_hostname": False,
        "users": [user] if settings.authorized_keys else NOBODY,
        "write_files": [
            {"path": path, "content": text, "permissions": "0644"}
            for path, text in (files | dict(more.files)).items()
        ],
        **({"runcmd": commands} if commands else {}),
    }


def hosts_file(cluster: Cluster) -> str:
    """Returns the text of /etc/hosts: every node of the map by its address on the data fabric."""
    manager = cluster.yarn.resourcemanager
    nodes = {host.name: host.address for host in cluster.hosts}
    nodes |= {guest.name: guest.address for guest in cluster.guests()}
    nodes.setdefault(manager.name, cluster.resourcemanager_address)
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
    lines += [f"{address} {_names(name)}" for name, address in nodes.items()]
    return "\n".join(lines) + "\n"


def _names(name: str) -> str:
    short = name.partition(".")[0]
    return name if short == name else f"{name} {short}"


def _network(cluster: Cluster, guest: Guest, settings: GuestSettings) -> dict[str, Any]:
    """Configures the VF only: vas-routed configures the virtio NIC, which it knows by its MAC."""
    if not settings.on_fabric:
        return {"version": 2, "ethernets": {}}
    name = _nic(cluster, guest)
    vf: dict[str, Any] = {
        "match": {"macaddress": guest.macs.vf},
        "set-name": name,
        "addresses": [str(ip_interface(f"{guest.address}/{settings.prefix_bits}"))],
    }
    if settings.mtu:
        vf["mtu"] = settings.mtu
    if settings.gateway:
        vf["routes"] = [{"to": "default", "via": settings.gateway}]
    return {"version": 2, "ethernets": {name: vf}}


def _nic(cluster: Cluster, guest: Guest) -> str:
    host = cluster.host_by_guest(guest.name)
    assert host is not None, "a guest of the map has a host"
    return host.nics.vf


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, not escaped into one line."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def _yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=1000)
    return text
