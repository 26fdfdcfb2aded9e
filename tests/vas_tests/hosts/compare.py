"""Takes pictures of a host's state, and compares two of them."""

from __future__ import annotations

from collections.abc import Sequence

from vas_core.polling import poll
from vas_tests.hosts.host import EmulatedHost

# What changes by itself, or by the look at it: caches, logs, clocks, Ansible's own directory.
_PASSED_OVER = (
    *("/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/var/log", "/var/cache"),
    *("/var/lib/apt", "/var/lib/dpkg", "/var/lib/systemd", "/root/.ansible", "/root/.cache"),
    # What timers of the distribution write at midnight.
    *("/var/backups", "/var/lib/logrotate"),
    # How packages remember that they were there, besides dpkg.
    *("/var/lib/ucf", "/var/lib/sgml-base"),
    # libvirt's own: it comes with the first guest that starts with its server, and stays.
    "/etc/libvirt/qemu/autostart",
    *("/etc/ld.so.cache", "/etc/.pwd.lock", "/etc/mtab"),
)
_BACKUPS = ("/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-", "/etc/subuid-")
_LOOK = """
import hashlib, os, stat, sys
passed_over = set(sys.argv[1:])
for top, directories, files in os.walk("/"):
    directories[:] = sorted(
        d for d in directories
        if os.path.join(top, d) not in passed_over and d != "__pycache__"
    )
    for name in directories + files:
        path = os.path.join(top, name)
        if path in passed_over:
            continue
        found = os.lstat(path)
        kind = stat.filemode(found.st_mode)
        what = ""
        if stat.S_ISREG(found.st_mode):
            what = hashlib.sha256(open(path, "rb").read()).hexdigest()[:16]
        elif stat.S_ISLNK(found.st_mode):
            what = os.readlink(path)
        print(path, kind, found.st_uid, found.st_gid, what, sep="\\t")
"""
_COMMANDS = {
    "packages": ("dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\\n"),
    "units": ("systemctl", "list-unit-files", "--no-legend", "--plain"),
    "running": (
        "systemctl",
        "list-units",
        "--type=service",
        "--state=active",
        "--no-legend",
        "--plain",
    ),
    "rules": ("ip", "rule", "show"),
    "routes": ("ip", "route", "show", "table", "all"),
    "addresses": ("ip", "-o", "address", "show"),
    "sysctls": ("sysctl", "-a"),
    "users": ("getent", "passwd"),
    "groups": ("getent", "group"),
}
# Counters, and what is drawn anew at each reading.
_LIVELY: tuple[str, ...] = (
    "kernel.random",
    "fs.dentry",
    "fs.file-nr",
    "fs.inode",
    "kernel.ns_last",
    "kernel.pty",
    "fs.aio-nr",
)
_LIVELY += ("kernel.acct", "fs.quota", "net.netfilter", "dev.cdrom", "kernel.shmall", "vm.stat")
# Started by whoever asks, a session or libvirt, and ended by themselves later, or done for good.
_ON_DEMAND = (
    "systemd-udev-settle.service",
    *("libvirtd.service", "virtlogd.service", "systemd-machined.service"),
    *("systemd-hostnamed.service", "systemd-timedated.service"),
    *("user@0.service", "user-runtime-dir@0.service"),
)
_DAD_SECONDS = 10.0
Picture = dict[str, set[str]]


def look(host: EmulatedHost, without: Sequence[str] = ()) -> Picture:
    """Returns a host's files, packages, units, routes, sysctls and users, each as a set of lines.

    `without`: directories whose content is left out.
    """
    # A link that just came up is still asking whether somebody else has its address.
    asked = ("ip", "-o", "address", "show", "tentative")
    poll(lambda: _lines(host, asked), lambda left: not left, _DAD_SECONDS, "addresses")
    found = {kind: _lines(host, argv) for kind, argv in _COMMANDS.items()}
    found["sysctls"] = {line for line in found["sysctls"] if not line.startswith(_LIVELY)}
    # A guest's tap has another number each time that the guest starts.
    found["addresses"] = {line.partition(": ")[2] for line in found["addresses"]}
    # Whether a bridge has a carrier is no configuration: one has it until its last port goes.
    found["routes"] = {line.replace(" linkdown", "") for line in found["routes"]}
    # The unit of a session comes and goes with it; columns are as wide as their longest word.
    units = (line.split() for line in found["units"])
    found["units"] = {" ".join(words) for words in units if "transient" not in words}
    services = {line.split()[0] for line in found["running"]}
    found["running"] = {name for name in services if name not in _ON_DEMAND}
    words = (*_PASSED_OVER, *_BACKUPS, *without)
    found["files"] = _lines(host, ("/usr/bin/python3", "-I", "-c", _LOOK, *words))
    return found


def _lines(host: EmulatedHost, argv: tuple[str, ...]) -> set[str]:
    return set(host.run(*argv, check=False).stdout.splitlines())


def differences(before: Picture, after: Picture) -> str:
    """Returns a line for each fact that came (+) or went (-); empty if none did."""
    lines = []
    for kind in before:
        lines += [f"+ {kind}: {line}" for line in sorted(after[kind] - before[kind])]
        lines += [f"- {kind}: {line}" for line in sorted(before[kind] - after[kind])]
    return "\n".join(lines)
