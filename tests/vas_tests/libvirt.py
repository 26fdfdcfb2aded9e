"""A libvirtd of the test's own: its files, sockets, bridge and guests end with it.

It runs in a mount, a process and a network namespace. Its socket is reached from outside, and its
guests' threads are seen there too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from vas_cluster.virtio import host_interface
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed, run

_QEMU = ("qemu-system-x86_64", "/usr/libexec/qemu-kvm")
_PROGRAMS = {
    "libvirtd": "libvirt-daemon",
    "virtlogd": "libvirt-daemon",
    "virsh": "libvirt-clients",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
}
_START_SECONDS = 60.0
# The host-only one, as the example maps call it.
BRIDGES = (("virbr0", str(host_interface())),)

# Arguments: the directory, then bridges, each with an address. `libvirt-qemu` and `qemu` are
# the users that distributions build libvirt with: their packages make them, or nobody does.
_OWN_FILES = """
set -eu
mount --make-rprivate /
for part in etc/libvirt run/libvirt var/lib/libvirt var/log/libvirt var/cache/libvirt; do
    mkdir -p "/$part" "$1/$part"
    mount --bind "$1/$part" "/$part"
done
for file in passwd group; do
    cp "/etc/$file" "$1/$file"
    mount --bind "$1/$file" "/etc/$file"
done
"""
CONFIGURE = """
for file in passwd group; do
    for user in libvirt-qemu qemu; do
        grep -q "^$user:" "/etc/$file" || echo "$user:x:64055:64055::/:/bin/false" >>"/etc/$file"
    done
done
mkdir -p /etc/libvirt
printf '%s\\n' 'user = "root"' 'group = "root"' 'security_driver = "none"' 'namespaces = []' \\
    'remember_owner = 0' >/etc/libvirt/qemu.conf
printf '%s\\n' 'auth_unix_rw = "none"' 'auth_unix_ro = "none"' 'unix_sock_group = "root"' \\
    >/etc/libvirt/libvirtd.conf
"""
_BRIDGES = """
ip link set lo up
shift
while [ $# -gt 0 ]; do
    ip link show "$1" 2>/dev/null || ip link add "$1" up type bridge forward_delay 0
    ip address add "$2" dev "$1"
    shift 2
done
"""
# The shell stays, to be the one that takes in what daemons leave: process 1 of the namespace.
_DAEMONS = """
virtlogd -d
libvirtd
"""

# `features` has acpi, as libvirt 9 says -no-acpi otherwise, which QEMU 9 does not know.
_DOMAIN = """
<domain type='qemu'>
  <name>{name}</name>
  <memory unit='MiB'>32</memory>
  <vcpu>2</vcpu>
  <iothreads>1</iothreads>
  <iothreadids><iothread id='1'/></iothreadids>
  <cputune><iothreadpin iothread='1' cpuset='1'/></cputune>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <features><acpi/></features>
  <devices><emulator>{emulator}</emulator><memballoon model='none'/></devices>
</domain>
"""


def missing() -> list[str]:
    """Returns what this machine lacks to run libvirtd, a line each; empty if nothing."""
    lacking = [f"{p} (package {of})" for p, of in _PROGRAMS.items() if shutil.which(p) is None]
    if _emulator() is None:
        lacking.append("QEMU (package qemu-system-x86)")
    return [*lacking, *([] if os.geteuid() == 0 else ["root, for a mount namespace"])]


def _emulator() -> str | None:
    return next((found for name in _QEMU if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class LibvirtDaemon:
    """A daemon that answers at `uri`, in the network namespace of process `pid`."""

    uri: str
    pid: int

    def entering(self, *argv: str) -> list[str]:
        """Returns the command line that runs a program in the daemon's network namespace."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *argv]

    def inside(self, *argv: str, check: bool = True, stdin: str | None = None) -> Completed:
        """Runs a program in the daemon's network namespace, where the guests' bridges are.

        Raises CommandFailed if its status is not 0, unless `check` is false.
        """
        return run(self.entering(*argv), check=check, stdin=stdin)

    def virsh(self, *words: str, stdin: str | None = None) -> str:
        """Runs a command of virsh and returns what it prints. Raises CommandFailed if it fails."""
        argv = ["virsh", "--quiet", "--connect", self.uri, *words]
        return run(argv, stdin=stdin, timeout_seconds=_START_SECONDS).stdout

    def define(self, name: str) -> str:
        """Defines a guest with 2 vCPUs and an iothread that is pinned to CPU 1; returns its UUID.

        Raises CommandFailed if libvirt refuses it.
        """
        text = _DOMAIN.format(name=name, emulator=_emulator())
        self.virsh("define", "/dev/stdin", stdin=text)
        return self.virsh("domuuid", name).strip()

    def end_guests(self) -> None:
        """Stops all guests of the daemon, and removes their definitions."""
        for uuid in self.virsh("list", "--uuid").split():
            self.virsh("destroy", uuid)
        for uuid in self.virsh("list", "--all", "--uuid").split():
            self.virsh("undefine", uuid)


def threads(uuid: str) -> dict[str, int]:
    """Returns name -> thread id of a running guest's threads, as this process sees them.

    Raises VasError if no QEMU of the guest runs.
    """
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if b"-uuid" in command and uuid.encode() in command:
                return _names_of(process)
        except OSError:
            continue
    raise VasError("no QEMU of this guest is there", where=uuid)


def _names_of(process: Path) -> dict[str, int]:
    found = {}
    for task in (process / "task").iterdir():
        # QEMU's workers come and go.
        with suppress(FileNotFoundError, ProcessLookupError):
            found[(task / "comm").read_text().strip()] = int(task.name)
    return found


@contextmanager
def running(
    directory: Path, bridges: Sequence[tuple[str, str]] = BRIDGES
) -> Iterator[LibvirtDaemon]:
    """Starts a libvirtd for the body; ends it with all that it started. `directory` gets its files.

    `bridges` are pairs of a name and an address with its prefix; a bridge may have several
    addresses. Raises VasError if libvirtd does not start.
    """
    argv = ["unshare", "--mount", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    script = f"{_OWN_FILES}{CONFIGURE}{_BRIDGES}{_DAEMONS}"
    log = directory / "libvirtd.log"
    with log.open("wb") as output:
        daemon = subprocess.Popen(
            [*argv, "sh", "-c", script, "sh", str(directory), *chain(*bridges)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        found = LibvirtDaemon(
            f"qemu+unix:///system?socket={directory}/run/libvirt/libvirt-sock", daemon.pid
        )
        _wait(found, daemon, log)
        try:
            yield found
        finally:
            found.end_guests()
    finally:
        daemon.kill()
        daemon.wait()


def _wait(found: LibvirtDaemon, daemon: subprocess.Popen[bytes], log: Path) -> None:
    def look() -> Completed:
        if daemon.poll() is not None:
            raise VasError(f"libvirtd ended: {log.read_text()[-2000:]}", where=str(log))
        return run(["virsh", "--connect", found.uri, "list"], check=False)

    poll(look, lambda seen: seen.status == 0, _START_SECONDS, "libvirtd")
