"""Boots a machine with a software RDMA device, and runs daemons on addresses of that device.

    reducer -- socket -- daemon 10.78.0.1 == rxe0 == daemons 10.78.0.2, 10.78.0.3, ...

The machine is emulated, with this machine's files as its root, as the rig of virtual functions is
(`vas_tests.sriov`). All daemons are its processes: rdma_rxe sends what is for an address of its own
by the whole of its transport, and hands it over where a frame would leave.
"""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.rdma import reducer
from vas_tests.shuffled import PROGRAM
from vas_tests.sriov.machines import emulated_argv
from vas_tests.sriov.needs import missing_to_boot
from vas_tests.sriov.node import Node
from vas_tests.sriov.rig import AGENT, BOOT_SECONDS, make_boot, start

DEVICE, NETDEV = "rxe0", "rdma0"
PORT = 13563
LOCAL = "/run/local"
_COUNTERS = f"/sys/class/infiniband/{DEVICE}/ports/1/hw_counters"
_MIB, _MTU = 1280, 4200
"""The MTU lets the device send 4096 bytes in one packet."""
PACKET = 4096
_DAEMON_SECONDS, _FETCH_SECONDS = 120.0, 900.0
_FETCH, _LISTENS = "fetch", "0A"
_REDUCER = Path(reducer.__file__)
_LIBRARIES = ("libibverbs.so.1", "librdmacm.so.1", "libibverbs/librxe-rdmav*.so")


def missing() -> list[str]:
    """Returns each thing that is missing, with its package; empty if the machine can boot."""
    found = list(missing_to_boot())
    if shutil.which("rdma") is None:
        found.append("program rdma (package iproute2)")
    for name in _LIBRARIES:
        if not any(any(root.glob(f"*/{name}")) for root in (Path("/usr/lib"), Path("/lib"))):
            found.append(f"{name} (packages librdmacm1, ibverbs-providers)")
    if not PROGRAM.exists():
        found.append("vas-shuffled (`./vas build --native`)")
    return found


@dataclass(frozen=True)
class RdmaMachine:
    """The machine with an RDMA device, after its boot."""

    node: Node

    def serve(self, number: int, *options: str) -> str:
        """Starts the daemon of a node by its number, and waits for it; returns its address."""
        address, directory = self.address(number), self.directory(number)
        self.node.run("mkdir", "-p", directory)
        self.node.run("sh", "-c", f"rm -f {directory}.in && mkfifo {directory}.in")
        argv = [str(PROGRAM), "--listen", f"{address}:{PORT}", *options, directory]
        # It ends with its standard input, where it is told its job.
        told = f"echo add {reducer.APPLICATION} {reducer.USER} 0 {reducer.SECRET.hex()} >&0"
        script = f'exec 0<>{directory}.in; {told}; echo $$ > {directory}.pid; exec "$@"'
        name = f"daemon{number}"
        self.node.write(f"/run/{name}.log", "")
        self.node.start(name, ["sh", "-c", script, "sh", *argv])

        def listens() -> bool:
            if self.node.ended(name) is not None:
                raise VasError(f"ended: {self.lines(number)}", where=name)
            return "listening on port" in self.lines(number)

        poll(listens, bool, _DAEMON_SECONDS, f"{name} to listen")
        return address

    def kill(self, number: int) -> None:
        """Kills a node's daemon, so that it can say nothing more."""
        self.node.run("kill", "-9", self.node.read(f"{self.directory(number)}.pid").strip())
        poll(
            lambda: self.node.ended(f"daemon{number}"),
            lambda status: status is not None,
            _DAEMON_SECONDS,
            f"the end of daemon{number}",
        )

    def write(self, number: int, *sizes: int) -> list[str]:
        """Writes map output with segments of these sizes on a node; returns their SHA-256."""
        words = ("write", self.directory(number), *map(str, sizes))
        return self.node.run(sys.executable, "-I", _REDUCER, *words).split()

    def fetch(self, number: int, partition: int, *hosts: str) -> list[str]:
        """Fetches a partition from hosts by a node's daemon; returns the reducer's lines."""
        argv = self._fetching(number, partition, *hosts)
        return self.node.run(*argv, timeout_seconds=_FETCH_SECONDS).splitlines()

    def start_fetch(self, number: int, partition: int, host: str) -> None:
        """Starts such a fetch, whose lines `finish_fetch` returns."""
        self.node.start(_FETCH, self._fetching(number, partition, host))

    def finish_fetch(self) -> list[str]:
        """Waits for the end of the fetch that `start_fetch` started; returns its lines."""
        poll(
            lambda: self.node.ended(_FETCH),
            lambda status: status is not None,
            _FETCH_SECONDS,
            "the end of the fetch",
        )
        return self.node.log(_FETCH).splitlines()

    def counters(self) -> dict[str, int]:
        """Returns the device's own counters, which its driver keeps."""
        shown = self.node.run("sh", "-c", f"cd {_COUNTERS} && grep -s . *")
        return {name: int(number) for name, _, number in (x.partition(":") for x in shown.split())}

    def tcp_connections(self) -> int:
        """Returns how many TCP connections the daemons' port has, or had until a minute ago."""
        lines = self.node.read("/proc/net/tcp").splitlines()[1:]
        pairs = [line.split()[1:4] for line in lines]
        ended = f":{PORT:04X}"
        return sum(
            state != _LISTENS and ended in (here[-5:], there[-5:]) for here, there, state in pairs
        )

    def queue_pairs(self, number: int) -> int:
        """Returns how many reliable queue pairs a node's daemon has, as the kernel lists them."""
        daemon = self.node.read(f"{self.directory(number)}.pid").strip()
        # The kernel names the thread that made the pair, which is there as long as the pair.
        threads = {int(word) for word in self.node.run("ls", f"/proc/{daemon}/task").split()}
        pairs = self.node.json("rdma", "-j", "resource", "show", "qp")
        return sum(pair.get("type") == "RC" and pair.get("pid") in threads for pair in pairs)

    def lines(self, number: int) -> str:
        """Returns what a node's daemon has printed."""
        return self.node.log(f"daemon{number}")

    def _fetching(self, number: int, partition: int, *hosts: str) -> list[str]:
        words = ("fetch", self.directory(number), str(partition), *hosts)
        return [sys.executable, "-I", str(_REDUCER), *words]

    @staticmethod
    def address(number: int) -> str:
        """Returns the address of a node."""
        return f"10.78.0.{number}"

    @staticmethod
    def directory(number: int) -> str:
        """Returns the local directory of a node's daemon."""
        return f"{LOCAL}/{number}"


@contextmanager
def running(directory: Path, nodes: int) -> Iterator[RdmaMachine]:
    """Boots the machine, with an address of the RDMA device for each node; ends it.

    `directory` gets its console. Raises VasError if it does not come, or the device does not.
    """
    env = {"VAS_PYTHON": sys.executable, "VAS_AGENT": str(AGENT)}
    boot = make_boot(directory.absolute(), env)
    with ExitStack() as stack:
        near, far = (stack.enter_context(end) for end in socket.socketpair())
        log = directory.absolute() / "rdma.console"
        argv = emulated_argv(boot, "rdma", {"rdma": far.fileno()}, _MIB, log)
        process = start(stack, argv, [far.fileno()])
        far.close()
        node = Node("rdma", near)
        node.wait(BOOT_SECONDS, lambda: process.poll() is None)
        _bring_up(node, nodes)
        yield RdmaMachine(node)


def _bring_up(node: Node, nodes: int) -> None:
    node.run("modprobe", "--all", "veth", "rdma_rxe", "rdma_ucm")
    node.run("ip", "link", "set", "lo", "up")
    pair = ("type", "veth", "peer", "name", "far0", "mtu", str(_MTU))
    node.run("ip", "link", "add", NETDEV, "mtu", str(_MTU), *pair)
    for name in (NETDEV, "far0"):
        node.run("ip", "link", "set", name, "up")
    for number in range(1, nodes + 1):
        node.run("ip", "addr", "add", f"{RdmaMachine.address(number)}/24", "dev", NETDEV)
    node.run("rdma", "link", "add", DEVICE, "type", "rxe", "netdev", NETDEV)
    poll(
        lambda: node.run("rdma", "link", "show"),
        lambda shown: "state ACTIVE" in shown,
        _DAEMON_SECONDS,
        f"{DEVICE} to be active",
    )
