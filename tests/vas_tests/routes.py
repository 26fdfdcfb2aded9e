"""A site of network namespaces whose nodes run `vas-routed`: started, broken, watched."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_core.root import Root
from vas_lab.netlab import NetLab
from vas_lab.procfs import children
from vas_routing.daemon.saved_state import SRIOV, SavedState, read_saved_state
from vas_routing.links import PathState
from vas_tests.promptly import may_be_prompt, promptly

_DEADLINE_SECONDS = 60.0
_MEMORY = Path("/dev/shm")
_PROBE = Path(__file__).with_name("udp_probe.py")
_STREAM = Path(__file__).with_name("tcp_stream.py")


@dataclass(frozen=True)
class ProbeCount:
    """A probe's result: datagrams sent and lost, and the longest time without an answer.

    `rate`: datagrams a second. `overrun`: those that arrived while a socket of the probe itself was
    full; they are not lost.
    """

    rate: int
    sent: int
    lost: int
    overrun: int
    gap_ms: float

    @property
    def lost_ms(self) -> float:
        """Returns for how many milliseconds datagrams were lost."""
        return self.lost * 1e3 / self.rate


@dataclass(frozen=True)
class Loss:
    """The loss on a path that went down: seen by its own node, and by one on another host.

    `waited_ms` is how long the two daemons that have to switch were runnable meanwhile while
    others had the cores; 0 where they have their unit's priority. `near_ms` and `afar_ms` leave
    it out.
    """

    near: ProbeCount
    afar: ProbeCount
    waited_ms: float

    @property
    def near_ms(self) -> float:
        """Returns for how many milliseconds the node itself lost datagrams."""
        return max(0.0, self.near.lost_ms - self.waited_ms)

    @property
    def afar_ms(self) -> float:
        """Returns for how many milliseconds a guest of another host lost datagrams to the node."""
        return max(0.0, self.afar.lost_ms - self.waited_ms)


@dataclass
class RoutedNet:
    """A network of namespaces whose nodes run `vas-routed`; made by `RoutedNet.on`.

    `directory` has the daemons' configuration and logs; `states` has a directory for each node,
    in memory, for what is in /run on a real one. Methods that run a program on a node raise
    CommandFailed if it fails, unless `check` is false.
    """

    net: NetLab
    directory: Path
    states: Path
    settings: Mapping[str, int]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def on(
        cls, net: NetLab, directory: Path, settings: Mapping[str, int] | None = None
    ) -> Iterator[RoutedNet]:
        """Yields a network without daemons for the body; ends those that were started then."""
        # As /run, in memory: on a disk each switch would wait for those who write to it.
        memory = _MEMORY if _MEMORY.is_dir() else directory
        with tempfile.TemporaryDirectory(prefix="vas-routes-", dir=memory) as states:
            routed = cls(net, directory, Path(states), settings or {})
            try:
                yield routed
            finally:
                routed.end_all()

    def __post_init__(self) -> None:
        self.key.touch(mode=0o600)
        self.key.write_text(secrets.token_hex(32) + "\n")
        self.config.write_text(yaml.safe_dump(dict(self.settings)))
        self.map.write_text(
            yaml.safe_dump(self.net.cluster.model_dump(mode="json", exclude_none=True))
        )

    @property
    def config(self) -> Path:
        """Returns the path of the settings of all daemons."""
        return self.directory / "route.yaml"

    @property
    def key(self) -> Path:
        """Returns the path of the key that all daemons share."""
        return self.directory / "route.key"

    def kept(self, node: str) -> Path:
        """Returns the directory in which a node's daemon keeps its last good map."""
        return self.directory / f"{node}.kept"

    @property
    def map(self) -> Path:
        """Returns the path of the cluster map that all daemons read."""
        return self.directory / "cluster.yaml"

    @property
    def nodes(self) -> list[str]:
        """Returns the names of all hosts, then of all guests."""
        hosts = [host.name for host in self.net.cluster.hosts]
        return hosts + [guest.name for guest in self.net.cluster.guests()]

    def address(self, node: str) -> str:
        """Returns a node's service address."""
        host = self.net.cluster.host(node)
        return host.address if host else self.net.cluster.guest(node).address

    def state(self, node: str) -> Path:
        """Returns the directory of a node's journal."""
        return self.states / node

    def ip(self, node: str, *words: str) -> str:
        """Runs `ip` on a node and returns what it printed."""
        return run(self.net.enter(node, ["ip", *words])).stdout

    def ip_json(self, node: str, *words: str) -> Any:
        """Runs `ip -j` on a node and returns the JSON that it printed."""
        return json.loads(self.ip(node, "-j", *words) or "[]")

    def python(self, node: str, script: str) -> str:
        """Runs a line of Python on a node and returns what it printed."""
        return run(self.net.enter(node, [sys.executable, "-c", script])).stdout

    def route(self, node: str, *words: str, check: bool = True) -> Completed:
        """Runs `vas route` on a node, and returns how it ended."""
        return run(self.net.enter(node, self._command(node, *words)), check=check)

    def metrics(self, node: str) -> str:
        """Returns a daemon's metrics in Prometheus' format; empty while it does not answer."""
        asked = (
            "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9213').read().decode())"
        )
        argv = [sys.executable, "-c", asked]
        return run(self.net.enter(node, argv), check=False).stdout

    def metric(self, node: str, name: str) -> float:
        """Returns the value of one metric of a daemon; 0 if there is none.

        `name` is the metric with its labels, as the daemon prints it.
        """
        rows = (line.rpartition(" ") for line in self.metrics(node).splitlines())
        return next((float(value) for key, _, value in rows if key == name), 0.0)

    def _command(self, node: str, *words: str) -> list[str]:
        options = ["--cluster", self.map, "--node", node, "--state", self.state(node)]
        options += ["--config", self.config]
        verb, *rest = words
        return [sys.executable, "-m", "vas_core", "route", verb, *map(str, options), *rest]

    def start(self, node: str, patch: str = "", key: Path | None = None) -> None:
        """Starts a node's daemon and returns at once, before it is ready.

        `patch` is Python code that the daemon's process runs first.
        """
        options = ["--kept", str(self.kept(node)), "--key", str(key or self.key)]
        argv = self._command(node, "daemon", "--metrics", "127.0.0.1:9213", *options)
        if patch:
            script = f"{patch}\nimport sys\nfrom vas_core.cli import main\nmain(sys.argv[1:])"
            argv = [sys.executable, "-c", script, *argv[3:]]
        with (self.directory / f"{node}.log").open("ab") as log:
            argv = promptly(self.net.enter(node, argv))
            self.daemons[node] = subprocess.Popen(argv, stderr=log)

    def start_all(self) -> None:
        """Starts all nodes' daemons, and waits until all paths are up and all routes right."""
        for node in self.nodes:
            self.start(node)
        self.wait_until_whole()

    def end_all(self) -> None:
        """Kills all daemons, stopped ones too.

        A network does not end while a stopped process is in it.
        """
        for process in self.daemons.values():
            process.kill()

    @contextmanager
    def paused(self, node: str) -> Iterator[None]:
        """Stops a node's daemon (SIGSTOP) while the body runs."""
        self.signal(node, signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal(node, signal.SIGCONT)

    def signal(self, node: str, number: int) -> None:
        """Sends a daemon a signal; after SIGKILL or SIGTERM it waits until the daemon has ended."""
        process = self.daemons[node]
        run(["kill", f"-{number}", str(self._daemon(node))])
        if number == signal.SIGCONT:
            process.send_signal(number)  # nsenter stopped itself with it
        if number in (signal.SIGKILL, signal.SIGTERM):
            process.wait(_DEADLINE_SECONDS)

    def _daemon(self, node: str) -> int:
        (daemon,) = children(Root(), self.daemons[node].pid)
        return daemon

    def waited_ms(self, *nodes: str) -> float:
        """Returns for how many milliseconds these daemons waited for a core, since they started.

        It is 0 where they have their unit's priority.
        """
        if may_be_prompt():
            return 0.0
        text = (Root().read(f"proc/{self._daemon(node)}/schedstat") for node in nodes)
        return sum(int((line or "0 0 0").split()[1]) for line in text) / 1e6

    def log(self, node: str) -> list[dict[str, Any]]:
        """Returns the lines of JSON in the log of a node's daemon."""
        text = (self.directory / f"{node}.log").read_text()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def switches(self, node: str) -> int:
        """Returns how many times a node's daemon switched a path."""
        return len(self.path_changes(node))

    def path_changes(self, node: str) -> list[dict[str, Any]]:
        """Returns the lines of the log in which a node's daemon switched a path."""
        return [line for line in self.log(node) if line["message"] == "path"]

    def starts(self, node: str) -> int:
        """Returns how often a node's daemon finished its routes, after a start or a new map."""
        return sum(line["message"] == "routes are right" for line in self.log(node))

    def start_and_wait(self, node: str, patch: str = "") -> None:
        """Starts a node's daemon again, and waits until its log says that its routes are right.

        Its saved paths do not tell: until then they are those of the daemon before.
        """
        before = self.starts(node)
        self.start(node, patch)
        wait(lambda: self.starts(node) > before, f"{node}: the daemon is up again")

    def saved_state(self, node: str) -> SavedState:
        """Returns the state of the paths that a node's daemon has saved."""
        return read_saved_state(self.state(node))

    def wait_for(self, node: str, path: str, state: str) -> None:
        """Waits until a node's daemon has saved a path (SRIOV, or a peer's name) in a state.

        Raises VasError at the deadline.
        """
        wait(lambda: self.saved_state(node).paths.get(path) == state, f"{node}: {path} {state}")

    def wait_until_whole(self) -> None:
        """Waits until all daemons have all paths up, and the kernel has the right routes.

        Raises VasError at the deadline, AssertionError if a daemon has ended.
        """
        wait(self._is_whole, "all paths up")
        for node in self.nodes:
            wait(lambda node=node: self._is_right(node), f"{node}: routes")  # type: ignore[misc]

    def _is_whole(self) -> bool:
        ended = [node for node, process in self.daemons.items() if process.poll() is not None]
        assert not ended, f"{ended[0]}: {(self.directory / f'{ended[0]}.log').read_text()[-2000:]}"
        states = [self.saved_state(node) for node in self.nodes]
        up = (all(s is PathState.UP for s in m.paths.values()) and SRIOV in m.paths for m in states)
        return all(up)

    def _is_right(self, node: str) -> bool:
        """Whether it goes by virtio to all on its host, and answers for nobody any more."""
        peers = self.saved_state(node).paths.keys() - {SRIOV}
        version = "-6" if ":" in self.address(node) else "-4"
        rows = self.ip_json(node, version, "route", "show", "table", "213")
        right = {row["dst"] for row in rows} == {self.address(peer) for peer in peers}
        return right and not self.ip(node, "neigh", "show", "proxy")

    def sent_by(self, node: str, device: str) -> int:
        """Returns how many packets have left a node by an interface."""
        (link,) = self.ip_json(node, "-s", "link", "show", "dev", device)
        return int(link["stats64"]["tx"]["packets"])

    @contextmanager
    def probed(self, source: str, to: str, rate: int = 1000) -> Iterator[list[ProbeCount]]:
        """Sends datagrams from a node to another and back while the body runs.

        Yields a list, which has one ProbeCount after the body. `rate` is datagrams a
        second.
        """
        accounts: list[ProbeCount] = []
        with self._helper(to, _PROBE, "serve", self.address(to)) as server:
            with self._helper(source, _PROBE, "ask", self.address(to), str(rate)) as asking:
                yield accounts
                assert asking.stdin and asking.stdout
                asking.stdin.close()
                accounts.append(ProbeCount(rate=rate, **json.loads(asking.stdout.readline())))
            server.kill()

    @contextmanager
    def streamed(self, source: str, to: str) -> Iterator[None]:
        """Keeps a TCP connection busy between two nodes while the body runs.

        Raises AssertionError after the body if it broke, or a number did not come back.
        """
        with self._helper(to, _STREAM, "serve", self.address(to)) as server:
            with self._helper(source, _STREAM, "ask", self.address(to)) as asking:
                yield
                assert asking.stdin and asking.stdout
                asking.stdin.close()
                account = json.loads(asking.stdout.readline() or '{"error": "no account"}')
                assert account.get("echoed", 0) > 0, f"{source} -> {to}: {account}"
            server.kill()

    def lose(self, path: str, to: str, break_it: Callable[[RoutedNet, bool], None]) -> Loss:
        """Breaks a path of vm1 to another node, mends it, and returns the loss.

        Raises AssertionError if a TCP stream on the path breaks.
        """
        both = ("vm1", "oss1")
        with (
            self.streamed("vm1", to),
            self.streamed("vm2", "vm1"),
            self.probed("vm1", to) as near,
            self.probed("vm2", "vm1", 200) as afar,
        ):
            before = self.waited_ms(*both)
            break_it(self, False)
            self.wait_for("vm1", path, PathState.DOWN)
            waited_ms = self.waited_ms(*both) - before
            break_it(self, True)
            self.wait_until_whole()
        return Loss(near[0], afar[0], waited_ms)

    @contextmanager
    def flipping(self, node: str, script: str, links: str) -> Iterator[Callable[[int], int]]:
        """Runs a script on a node that applies one of several desired states.

        Yields a function from the number of a desired state to the number of changes that
        it took.
        """
        words = ["-c", script, self.map, node, self.state(node), links]
        with self._helper(node, *words) as process:
            assert process.stdin and process.stdout
            asked, answers = process.stdin, process.stdout

            def flip(number: int) -> int:
                asked.write(f"{number}\n".encode())
                asked.flush()
                return int(answers.readline())

            yield flip

    @contextmanager
    def _helper(self, node: str, *words: object) -> Iterator[subprocess.Popen[bytes]]:
        argv = promptly(self.net.enter(node, [sys.executable, *map(str, words)]))
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
                yield process
            finally:
                process.kill()


def wait(done: Callable[[], bool], what: str) -> None:
    """Polls until `done` returns true. Raises VasError at the deadline that names `what`."""
    poll(done, bool, _DEADLINE_SECONDS, what)
