#!/usr/bin/python
"""The Ansible module `vas_facts`: reads a machine for the role `hostcheck`. Changes nothing."""

from __future__ import annotations

import grp
import ipaddress
import json
import os
import platform
import pwd
import re
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas_firewall import (
    chains_of_iptables,
    chains_of_nft,
    has_guest_rules,
    port_of_rich_rule,
    source_of_rich_rule,
)

DOCUMENTATION = """
module: vas_facts
short_description: Read the facts of a machine that hostcheck judges
description:
  - Reads the kernel, memory, disks, interfaces, virtual functions, firewall, ports, clock and names
    of a machine. Needs only the distribution's Python, as a check must not require a change
    before it.
options:
  names:
    description: Host names to resolve.
    type: list
    elements: str
    default: []
  accounts:
    description: Required numeric IDs of users, and of the group hadoop.
    type: dict
    default: {}
  seeds:
    description: Directory of the guests' seeds, which identify the guests that VAS defined.
    type: path
    default: /var/lib/vas/seed
  users:
    description: Users whose numeric IDs are looked up.
    type: list
    elements: str
    default: []
  paths:
    description: Files, existing or not, whose file system is examined.
    type: list
    elements: str
    default: []
  interfaces:
    description: Interfaces that do not exist yet, for which firewalld's rules are read.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Read the facts of the machine
  vas.site.vas_facts:
    names: "{{ groups['vas_oss'] }}"
"""

RETURN = """
vas_facts:
  description: As C(vas_ansible.checks.MachineFacts) has them.
  type: dict
  returned: always
"""

_SYS = Path("/sys")
_GROUPS = ("hadoop",)
# The role `lustre_client` writes it.
_LNET_OPTIONS = Path("/etc/modprobe.d/90-vas-lnet.conf")
# A program that hangs, as lctl does where Lustre hangs, counts as one that printed nothing.
_BOUNDED = ("timeout", "--kill-after=2", "20")


def main() -> None:
    texts = {"type": "list", "elements": "str", "default": []}
    arguments = {
        "names": texts,
        "paths": texts,
        "users": texts,
        "seeds": {"type": "path", "default": "/var/lib/vas/seed"},
        "interfaces": texts,
        "accounts": {"type": "dict", "default": {}},
    }
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    kernel = platform.release()
    memory = _memory()
    facts = {
        "hostname": socket.gethostname(),
        "kernel": kernel,
        "headers": Path(f"/lib/modules/{kernel}/build").exists(),
        "kvm": Path("/dev/kvm").exists(),
        "iommu_groups": len(_names(_SYS / "kernel/iommu_groups")),
        "memory_bytes": memory["MemTotal"] << 10,
        "available_bytes": memory["MemAvailable"] << 10,
        "running": [file[:-4] for file in _names_of(Path("/run/libvirt/qemu"), "*.xml")],
        "guests": _guests(Path(module.params["seeds"]), Path("/etc/libvirt/qemu")),
        "huge_bytes": (memory.get("HugePages_Total", 0) * memory.get("Hugepagesize", 0)) << 10,
        "cpus": os.cpu_count() or 1,
        "interfaces": _interfaces(module),
        "routes": _routes(module),
        "names": {name: _resolved(name) for name in module.params["names"]},
        "accounts": [_account(*one) for one in sorted(module.params["accounts"].items())],
        "users": {name: _uid(name) for name in module.params["users"]},
        "synchronised": _synchronised(module),
        "clock": time.time(),
        "link_protection": _link_protection(Path("/proc/sys/fs")),
        "files": {path: _place(Path(path)) for path in module.params["paths"]},
        "listening": sorted({port for _, port in _listening(module)}),
        "exposed": exposed(_listening(module)),
        "units": _names_of(Path("/etc/systemd/system"), "vas-*.service"),
        "firewall": _firewall(module),
        "server": _lustre_server(module),
        "lustre": _text(_SYS / "fs/lustre/version"),
        "lustre_mounts": lustre_mounts(Path("/proc/self/mounts").read_text()),
        "site_lnet": Path("/sys/module/lnet").exists() and not _LNET_OPTIONS.exists(),
        "ofed": _text(_SYS / "module/mlx5_core/version"),
    }
    module.exit_json(changed=False, vas_facts=facts)


def _names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []


def _text(path: Path) -> str | None:
    return path.read_text().strip() if path.exists() else None


def lustre_mounts(mounts: str) -> list[str]:
    """Returns where Lustre is mounted. `mounts`: the text of /proc/self/mounts."""
    lines = (line.split() for line in mounts.splitlines())
    found = [words[1] for words in lines if len(words) > 2 and words[2] == "lustre"]
    # The kernel writes space, tab, newline and backslash as octal numbers.
    return [re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), one) for one in found]


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text and text.isdigit() else None


def _link_protection(directory: Path) -> dict[str, int | None]:
    """The kernel's settings against planted links, by the names that sysctl gives them."""
    names = ("protected_hardlinks", "protected_symlinks")
    return {f"fs.{name}": _number(directory / name) for name in names}


def _memory() -> dict[str, int]:
    lines = (line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return {key: int(value.split()[0]) for key, value in lines}


def _interfaces(module: Any) -> dict[str, dict[str, Any]]:
    addresses = {
        link["ifname"]: [a["local"] for a in link.get("addr_info", []) if "local" in a]
        for link in _ip(module, "address", "show")
        if "ifname" in link
    }
    net = _SYS / "class/net"
    return {
        name: {
            "mtu": _number(net / name / "mtu") or 0,
            "mac": _text(net / name / "address") or "",
            "group": _number(net / name / "netdev_group") or 0,
            "addresses": addresses.get(name, []),
            "vfs_total": _number(net / name / "device/sriov_totalvfs"),
            "vfs": _number(net / name / "device/sriov_numvfs"),
        }
        for name in _names(net)
        if (net / name / "mtu").exists()
    }


def _routes(module: Any) -> list[str]:
    """Networks that the machine has a route to, in any table, except VAS's own (protocol 213)."""
    found = [*_ip(module, "route", "show", "table", "all"), *_ip(module, "-6", "route", "show")]
    unicast = (r for r in found if r.get("type", "unicast") == "unicast")
    kept = (r["dst"] for r in unicast if r.get("protocol") != "213")
    return sorted({to for to in kept if _is_network(to)})


def _is_network(text: str) -> bool:
    try:
        return ipaddress.ip_network(text).prefixlen > 0
    except ValueError:
        return False


def _ip(module: Any, *words: str) -> list[dict[str, Any]]:
    status, stdout, _ = module.run_command([*_BOUNDED, "ip", "-j", *words])
    return json.loads(stdout or "[]") if status == 0 else []


def _resolved(name: str) -> list[str]:
    try:
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(name, None)})
    except OSError:
        return []


def _account(name: str, number: int) -> dict[str, Any]:
    """The ID of a user or group on this machine, and the name that holds the required ID."""
    of_name, of_number = (
        (lambda: grp.getgrnam(name).gr_gid, lambda: grp.getgrgid(int(number)).gr_name)
        if name in _GROUPS
        else (lambda: pwd.getpwnam(name).pw_uid, lambda: pwd.getpwuid(int(number)).pw_name)
    )
    return {
        "name": name,
        "wanted": int(number),
        "found": _or_none(of_name),
        "holder": _or_none(of_number),
    }


def _uid(name: str) -> int | None:
    """A user's ID on this machine, from /etc/passwd or the site's directory service."""
    number: int | None = _or_none(lambda: pwd.getpwnam(name).pw_uid)
    return number


def _or_none(find: Callable[[], Any]) -> Any:
    try:
        return find()
    except KeyError:
        return None


def _place(path: Path) -> dict[str, Any]:
    """Whether the path exists, and the file system that holds it or would."""
    above = path
    while not above.exists():
        above = above.parent
    found = os.statvfs(above)
    return {
        "there": path.exists(),
        "device": above.stat().st_dev,
        "free_bytes": found.f_bavail * found.f_frsize,
    }


def _names_of(directory: Path, pattern: str) -> list[str]:
    return sorted(file.name for file in directory.glob(pattern))


def _guests(seeds: Path, domains: Path) -> list[str]:
    """Domains that VAS defined, which have a seed. `domains` is libvirt's directory."""
    defined = {file[:-4] for file in _names_of(domains, "*.xml")}
    return [file[:-4] for file in _names_of(seeds, "*.iso") if file[:-4] in defined]


def _listening(module: Any) -> list[tuple[str, int]]:
    """Addresses and TCP ports that a program listens on; "*" is every address."""
    status, stdout, _ = module.run_command([*_BOUNDED, "ss", "-Hltn"])
    lines = (line.split() for line in stdout.splitlines()) if status == 0 else ()
    found = (words[3].rpartition(":") for words in lines)
    return [(address.partition("%")[0].strip("[]"), int(port)) for address, _, port in found]


def exposed(listening: list[tuple[str, int]]) -> list[int]:
    """Returns the ports that listen on other than loopback addresses."""

    def is_loopback(address: str) -> bool:
        return address != "*" and ipaddress.ip_address(address).is_loopback

    return sorted({port for address, port in listening if not is_loopback(address)})


def _firewall(module: Any) -> dict[str, Any]:
    """Firewall rules that may drop packets: firewalld's zones, and chains with policy drop."""
    filtered = _text(Path("/proc/sys/net/bridge/bridge-nf-call-iptables")) == "1"
    ruleset = _ruleset(module)
    chains = chains_of_nft(ruleset) if ruleset is not None else _iptables_chains(module)
    return {
        "zones": _zones(module),
        "chains": chains,
        "bridges_filtered": filtered,
        "guest_rules": has_guest_rules(ruleset or []),
    }


def _zones(module: Any) -> dict[str, dict[str, Any]]:
    """Interface -> its zone of firewalld, and the target of packets that match no rule.

    An interface that does not exist yet is in the zone set for its name, or in the default zone.
    """
    if shutil.which("firewall-cmd") is None:
        return {}
    if module.run_command([*_BOUNDED, "firewall-cmd", "--state"])[0]:
        return {}
    found = {}
    for name in {*_names(_SYS / "class/net"), *module.params["interfaces"]}:
        argv = [*_BOUNDED, "firewall-cmd", f"--get-zone-of-interface={name}"]
        zone = module.run_command(argv)[1].strip() or _asked(module, "--get-default-zone")
        found[name] = {"zone": zone, **_zone(module, zone)}
    return found


def _zone(module: Any, zone: str) -> dict[str, Any]:
    """Traffic that a zone accepts by its ports, services and rich rules."""
    rules = _asked(module, f"--zone={zone}", "--list-rich-rules").splitlines()
    ports = _asked(module, f"--zone={zone}", "--list-ports").split()
    for service in _asked(module, f"--zone={zone}", "--list-services").split():
        ports += _asked(module, "--permanent", f"--service={service}", "--get-ports").split()
    return {
        "target": _asked(module, "--permanent", f"--zone={zone}", "--get-target"),
        "ports": ports + [port for rule in rules for port in port_of_rich_rule(rule)],
        "sources": [source for rule in rules for source in source_of_rich_rule(rule)],
    }


def _asked(module: Any, *words: str) -> str:
    return str(module.run_command([*_BOUNDED, "firewall-cmd", *words])[1].strip())


def _ruleset(module: Any) -> list[dict[str, Any]] | None:
    """All rules of nftables, which include those of iptables-nft; None without the program."""
    if shutil.which("nft") is None:
        return None
    status, stdout, _ = module.run_command([*_BOUNDED, "nft", "-j", "list", "ruleset"])
    return json.loads(stdout)["nftables"] if status == 0 and stdout else []


def _iptables_chains(module: Any) -> list[dict[str, Any]]:
    if shutil.which("iptables") is None:
        return []
    return chains_of_iptables(module.run_command([*_BOUNDED, "iptables", "-S"])[1])


def _lustre_server(module: Any) -> dict[str, Any]:
    """Nodemaps and MDTs of a Lustre server; empty on any other machine."""
    names = ["nodemap.active", "nodemap.*.admin_nodemap", "nodemap.*.ranges"]
    names.append("mdt.*.enable_remote_dir_gid")
    if shutil.which("lctl") is None:
        return {}
    # Status 2, ENOENT, where one parameter is unknown: lctl still prints the others.
    stdout = module.run_command([*_BOUNDED, "lctl", "get_param", *names])[1]
    return server_of_lctl(stdout)


def server_of_lctl(text: str) -> dict[str, Any]:
    """Returns the fields of `checks.facts.LustreServer` from the output of `lctl get_param`."""
    entries = re.findall(r"^((?:nodemap|mdt)\.[\w.-]+?)=\n?(.*(?:\n(?![\w]+\.).*)*)", text, re.M)
    known = {name: value.strip() for name, value in entries}
    maps = [name.split(".")[1] for name in known if name.endswith(".admin_nodemap")]
    bounds = re.compile(r"start_nid: (\S+?),? +end_nid: (\S+)")
    return {
        "nodemaps_active": known.get("nodemap.active") == "1",
        "nodemaps": {
            name: {
                "admin": known[f"nodemap.{name}.admin_nodemap"] == "1",
                "ranges": bounds.findall(known.get(f"nodemap.{name}.ranges", "")),
            }
            for name in maps
        },
        "remote_dir_gid": {
            name.rpartition(".")[0].removeprefix("mdt."): int(value)
            for name, value in known.items()
            if name.startswith("mdt.")
        },
    }


def _synchronised(module: Any) -> bool | None:
    if shutil.which("timedatectl") is None:
        return None
    argv = [*_BOUNDED, "timedatectl", "show", "--property=NTPSynchronized", "--value"]
    status, stdout, _ = module.run_command(argv)
    return stdout.strip() == "yes" if status == 0 else None


if __name__ == "__main__":
    main()
