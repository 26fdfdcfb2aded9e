"""The rig: a storage host that is a machine, its guest that is one inside, and another host.

    oss2 --wire0-- igb adapter [ PF: oss1 | VF: vm1 ]     oss1 br0 --tap0-- virtio-net: vm1

`oss2` is the network namespace that the outer QEMU runs in: the wire is the tap interface of the
adapter's uplink. So there is one process to end, and nothing to clean up.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster, Host, load_cluster
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_tests.sriov import bring_up, guests
from vas_tests.sriov.agent import TIED
from vas_tests.sriov.initramfs import pack
from vas_tests.sriov.kernel import newest_kernel
from vas_tests.sriov.machines import Boot, guest_argv, host_argv
from vas_tests.sriov.node import Node

WIRE = "wire0"
CONSOLE = "oss1.console"
AGENT = Path(__file__).with_name("agent.py")
BOOT_SECONDS = 400.0


@dataclass(frozen=True)
class Rig:
    """The nodes of the rig: storage hosts oss1 and oss2, and oss1's guest vm1; and their map."""

    cluster: Cluster
    oss1: Node
    vm1: Node
    oss2: Node

    def report(self) -> str:
        """Returns the network of all nodes and the host's kernel log, to read after a failure."""
        asked = ["addr", "route show table all", "rule", "neigh", "neigh show proxy"]
        parts = [
            f"== {node.name}: ip {what}\n{node.run('ip', '-d', *what.split())}"
            for node in self.nodes
            for what in asked
        ]
        return "\n".join([*parts, "== oss1: dmesg", self.oss1.run("dmesg", "--notime")])

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the rig: two storage hosts and a guest."""
        return self.oss1, self.vm1, self.oss2


@contextmanager
def running(directory: Path) -> Iterator[Rig]:
    """Boots the machines, with the map's addresses and without VAS's routes; ends them.

    `directory` gets the host's console. Raises VasError that names the node that did not come.
    """
    cluster = load_cluster(guests.SITE)
    host, other = cluster.hosts
    agent = {"VAS_PYTHON": sys.executable, "VAS_AGENT": str(AGENT)}
    boot = make_boot(directory.absolute(), agent)
    with ExitStack() as stack:
        names = (host.name, host.guests[0].name, other.name)
        near, far = _channels(stack, names)
        oss1, vm1, oss2 = (Node(name, near[name]) for name in names)
        ports = {name: far[name].fileno() for name in names[:2]}
        argv = host_argv(boot, host.name, ports, WIRE, boot.initramfs.with_name(CONSOLE))
        machine = start(stack, ["unshare", "--net", *TIED, *argv], list(ports.values()))
        _other_host(stack, machine, other, far[other.name].fileno())
        for end in far.values():
            end.close()  # or nobody would see that a node is gone
        oss2.wait(BOOT_SECONDS)
        oss1.wait(BOOT_SECONDS)
        oss1.write(guests.MAP, guests.site_with(2))
        vf = bring_up.host(oss1, host, guests.MAP)
        _boot_guest(oss1, vm1, boot, host, vf)
        bring_up.guest(vm1, host)
        yield Rig(cluster, oss1, vm1, oss2)


def make_boot(directory: Path, env: Mapping[str, str]) -> Boot:
    """Returns this machine's kernel, with an initramfs that is written to `directory`.

    `env` is given to /init: it says what the machine starts.
    """
    directory.mkdir(parents=True, exist_ok=True)
    kernel, busybox = newest_kernel(), shutil.which("busybox")
    assert kernel and busybox, "`needs.missing` says so"
    initramfs = directory / "initramfs.cpio"
    initramfs.write_bytes(pack(kernel, Path(busybox)))
    return Boot(kernel, initramfs, env)


def _channels(
    stack: ExitStack, names: Sequence[str]
) -> tuple[dict[str, socket.socket], dict[str, socket.socket]]:
    """Two ends of a connection for each name: ours, and the node's."""
    pairs = {name: socket.socketpair() for name in names}
    for pair in pairs.values():
        for end in pair:
            stack.enter_context(end)
    return {n: p[0] for n, p in pairs.items()}, {n: p[1] for n, p in pairs.items()}


def start(
    stack: ExitStack, argv: Sequence[str], descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Starts a program with open descriptors; the stack's end ends it."""
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=descriptors
    )
    stack.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _other_host(
    stack: ExitStack, machine: subprocess.Popen[bytes], other: Host, channel: int
) -> None:
    """Makes the far end of the adapter's wire a host, with an agent."""
    inside = ("nsenter", f"--target={machine.pid}", "--net", "--")

    def look() -> Completed:
        if machine.poll() is not None:
            raise VasError(f"QEMU ended with status {machine.returncode}", where=str(machine.args))
        return run([*inside, "ip", "link", "show", WIRE], check=False)

    # Until it is there, this may still be our own namespace.
    poll(look, lambda seen: seen.status == 0, BOOT_SECONDS, f"{WIRE}, which QEMU makes")
    for words in (
        ("addr", "add", f"{other.address}/{bring_up.PREFIX_BITS}", "dev", WIRE),
        ("link", "set", WIRE, "up"),
        ("link", "set", "lo", "up"),
    ):
        run([*inside, "ip", *words])
    start(stack, [*inside, *TIED, sys.executable, "-I", str(AGENT), str(channel)], [channel])


def _boot_guest(oss1: Node, vm1: Node, boot: Boot, host: Host, vf: str) -> None:
    argv = guest_argv(boot, host.guests[0], vf, bring_up.TAP, oss1.port(vm1.name))
    oss1.start("qemu", argv)
    try:
        vm1.wait(BOOT_SECONDS, lambda: oss1.ended("qemu") is None)
    except VasError as late:
        console = oss1.read(f"/run/{vm1.name}.console")
        raise VasError(f"{late}\n{oss1.log('qemu')}\n{console}", where=oss1.name) from late
