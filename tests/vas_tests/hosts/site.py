"""A site of emulated hosts, and Ansible on a controller in their network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from vas_cluster import Cluster, load_cluster
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_tests.hosts.host import EmulatedHost, Mounts
from vas_tests.hosts.network import CONTROLLER, make_fabric, plug, unplugged, wait_for_namespaces
from vas_tests.hosts.tree import tree

MAP = Path(__file__).with_name("site.yaml")
_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.M)
_PLAY_SECONDS = 600
_PORT = 8000
_SSH_OPTIONS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"


@dataclass(frozen=True)
class PlaybookOutcome:
    """The outcome of a playbook: its output, and how many tasks changed something on each host."""

    text: str
    errors: str
    changed: dict[str, int]

    def changes(self) -> int:
        """Returns how many tasks changed something, on all hosts together."""
        return sum(self.changed.values())


@dataclass
class Site:
    """Emulated hosts by name, and a controller in a network of its own."""

    directory: Path
    cluster: Cluster
    hosts: dict[str, EmulatedHost]
    controller: int
    """A process whose network is the controller's."""
    _disks: Path
    _mounts: Mounts
    inventories: list[Path] = field(default_factory=list)
    """Inventory files besides the map's."""

    @property
    def map(self) -> Path:
        """Returns the path of the controller's copy of the map; playbooks may write beside it."""
        return self.directory / "cluster.yaml"

    def host(self, name: str) -> EmulatedHost:
        """Starts the host of this name, with the files that it left on its disk."""
        disk = self._disks / name
        disk.mkdir(exist_ok=True)
        mounts = {} if self.cluster.host(name) else self._mounts
        return EmulatedHost.start(name, tree(), self.directory / "key.pub", disk, mounts)

    def start_again(self, name: str) -> None:
        """Starts a guest, or the ResourceManager's machine, after its `kill`, and waits for it.

        Raises VasError if it does not come up.
        """
        unplugged(self.controller, name)
        self.hosts[name] = self.host(name)
        wait_for_namespaces([self.hosts[name].net])
        plug(self.controller, self.cluster, self.hosts, name)
        self.hosts[name].wait()

    def end(self) -> None:
        """Ends every host, as a power failure does."""
        for host in self.hosts.values():
            host.kill()

    def beside(self, *argv: str, check: bool = True) -> Completed:
        """Runs a program on the controller, in its network.

        Raises CommandFailed if its status is not 0, unless `check` is false.
        """
        return run([*self.inside, *argv], check=check)

    def play(
        self,
        playbook: Path,
        variables: Mapping[str, object] | None = None,
        *words: str,
        check: bool = True,
        timeout_seconds: float = _PLAY_SECONDS,
    ) -> PlaybookOutcome:
        """Runs a playbook over SSH, and returns its outcome.

        Raises CommandFailed with its output if a task failed (unless `check` is false), or
        after the time.
        """
        done = run(
            self._command(playbook, variables or {}, (*self._more(), *words)),
            check=check,
            env=self._environment(),
            timeout_seconds=timeout_seconds,
        )
        return PlaybookOutcome(
            done.stdout, done.stderr, {m[1]: int(m[3]) for m in _RECAP.finditer(done.stdout)}
        )

    def start(self, playbook: Path, variables: Mapping[str, object]) -> subprocess.Popen[bytes]:
        """Starts a playbook and returns its process, the leader of a session of its own.

        `log_of` names the file that its output goes to.
        """
        argv = self._command(playbook, variables, self._more())
        with self.log_of(playbook).open("wb") as log:
            # A session of its own: it ends with its workers, by os.killpg.
            return subprocess.Popen(
                argv,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log_of(self, playbook: Path) -> Path:
        """Returns the file with the output of a playbook that `start` started last."""
        return self.directory / f"{playbook.stem}.log"

    def _more(self) -> list[str]:
        return [word for file in self.inventories for word in ("-i", str(file))]

    @contextmanager
    def serving(self, directory: Path) -> Iterator[str]:
        """Serves a directory of this machine to the hosts by HTTP for the body; yields the URL."""
        inside = ["nsenter", f"--target={self.controller}", "--net", "--", sys.executable]
        argv = [*inside, "-m", "http.server", str(_PORT), "--directory", str(directory)]
        null = subprocess.DEVNULL
        process = subprocess.Popen(argv, stdout=null, stderr=null)
        try:
            yield f"http://{CONTROLLER}:{_PORT}"
        finally:
            _end(process)

    def _command(
        self, playbook: Path, variables: Mapping[str, object], words: Sequence[str]
    ) -> list[str]:
        extra = self.directory / "extra.json"
        extra.write_text(json.dumps({**self._connection(), **variables}))
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        arguments = ["-i", str(self._inventory()), "-e", f"@{extra}", *words, str(playbook)]
        return [*self.inside, program, *arguments]

    @property
    def inside(self) -> list[str]:
        """Returns the words before a command line that run it in the controller's network."""
        return ["nsenter", f"--target={self.controller}", "--net", "--"]

    def _connection(self) -> dict[str, object]:
        return {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._key),
            "ansible_ssh_common_args": _SSH_OPTIONS,
        }

    @property
    def _key(self) -> Path:
        return self.directory / "key"

    def ssh(self, address: str) -> list[str]:
        """Returns the words before a command line that run it on a machine, by SSH as root.

        All runs share one connection.
        """
        kept = ("-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o")
        options = (*_SSH_OPTIONS.split(), *kept, f"ControlPath={self.directory}/ssh")
        return [*self.inside, "ssh", "-i", str(self._key), *options, f"root@{address}", "--"]

    def _inventory(self) -> Path:
        file = self.directory / "vas.yml"
        file.write_text(f"plugin: vas_cluster\nfile: {self.map}\n")
        return file

    def _environment(self) -> dict[str, str]:
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {
            "PATH": programs,
            "HOME": str(self.directory),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(REPOSITORY / "ansible" / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@contextmanager
def site_of_hosts(
    directory: Path,
    only: Sequence[str] = (),
    map_file: Path = MAP,
    mounts: Mounts | None = None,
) -> Iterator[Site]:
    """Starts the machines of a map (or `only` these) for the body, and yields the site.

    Every machine but the storage servers has `mounts`. Raises VasError if a machine does not come
    up.
    """
    cluster = load_cluster(map_file)
    shutil.copy(map_file, directory / "cluster.yaml")
    key = directory / "key"
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
    names = [host.name for host in cluster.hosts]
    names += [guest.name for guest in cluster.guests()]
    names.append(cluster.yarn.resourcemanager.name)
    names += [client.name for client in cluster.yarn.clients]
    names = [name for name in names if name in only or not only]
    with ExitStack() as stack:
        # In memory, as packages are written with many a sync.
        disks = Path(stack.enter_context(TemporaryDirectory(prefix="vas-hosts-", dir="/dev/shm")))
        controller = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        stack.callback(_end, controller)
        site = Site(directory, cluster, {}, controller.pid, disks, mounts or {})
        stack.callback(site.end)
        for name in names:
            site.hosts[name] = site.host(name)
        wait_for_namespaces([controller.pid, *(host.net for host in site.hosts.values())])
        make_fabric(controller.pid)
        for name in names:
            plug(controller.pid, cluster, site.hosts, name)
        for host in site.hosts.values():
            host.wait()
        yield site


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
