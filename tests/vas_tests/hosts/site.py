"""A site of hosts: their network, and Ansible beside them on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster, load_cluster
from vas_core.polling import poll
from vas_core.process import run
from vas_tests.checks import REPOSITORY
from vas_tests.hosts.host import Host
from vas_tests.hosts.tree import tree

_MAP = Path(__file__).with_name("site.yaml")
_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.M)
_PLAY_SECONDS = 600


@dataclass(frozen=True)
class Played:
    """What a playbook did: its output, and how many tasks changed something on each host."""

    text: str
    changed: dict[str, int]

    def changes(self) -> int:
        """How many tasks changed something, on all hosts."""
        return sum(self.changed.values())


@dataclass
class Site:
    """Hosts by name, and a controller in a network of its own."""

    directory: Path
    cluster: Cluster
    hosts: dict[str, Host]
    _controller: int

    @property
    def map(self) -> Path:
        """The controller's map: a copy, beside which playbooks may write."""
        return self.directory / "cluster.yaml"

    def play(
        self,
        playbook: Path,
        variables: Mapping[str, object] | None = None,
        *words: str,
        check: bool = True,
    ) -> Played:
        """Runs a playbook over SSH. Raises CommandFailed with its output if a task failed."""
        done = run(
            self._command(playbook, variables or {}, words),
            check=check,
            env=self._environment(),
            timeout_seconds=_PLAY_SECONDS,
        )
        return Played(done.stdout, {m[1]: int(m[3]) for m in _RECAP.finditer(done.stdout)})

    def start(self, playbook: Path, variables: Mapping[str, object]) -> subprocess.Popen[bytes]:
        """Starts a playbook, for who wants to end it."""
        null = subprocess.DEVNULL
        argv = self._command(playbook, variables, ())
        # A session of its own: it ends with its workers, by os.killpg.
        return subprocess.Popen(
            argv, env=self._environment(), stdout=null, stderr=null, start_new_session=True
        )

    def _command(
        self, playbook: Path, variables: Mapping[str, object], words: Sequence[str]
    ) -> list[str]:
        extra = self.directory / "extra.json"
        extra.write_text(json.dumps({**self._connection(), **variables}))
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        inside = ["nsenter", f"--target={self._controller}", "--net", "--"]
        arguments = ["-i", str(self._inventory()), "-e", f"@{extra}", *words, str(playbook)]
        return [*inside, program, *arguments]

    def _connection(self) -> dict[str, object]:
        options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        return {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.directory / "key"),
            "ansible_ssh_common_args": options,
        }

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
def site_of_hosts(directory: Path) -> Iterator[Site]:
    """The site of `site.yaml`, up; ended however the test ends."""
    cluster = load_cluster(_MAP)
    shutil.copy(_MAP, directory / "cluster.yaml")
    key = directory / "key"
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
    base = tree()
    with ExitStack() as stack:
        controller = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        stack.callback(_end, controller)
        names = [host.name for host in cluster.hosts]
        names += [guest.name for guest in cluster.guests()]
        names.append(cluster.yarn.resourcemanager.name)
        hosts = {}
        for name in names:
            hosts[name] = Host.start(name, base, key.with_suffix(".pub"))
            stack.callback(hosts[name].kill)
        _wait_for_namespaces([controller.pid, *(host.net for host in hosts.values())])
        _join(controller.pid, cluster, hosts)
        for host in hosts.values():
            host.wait()
        yield Site(directory, cluster, hosts, controller.pid)


def _wait_for_namespaces(pids: list[int]) -> None:
    own = Path("/proc/self/ns/net").readlink()

    def shared() -> list[int]:
        return [pid for pid in pids if Path(f"/proc/{pid}/ns/net").readlink() == own]

    poll(shared, lambda left: not left, 20.0, "namespaces")


def _join(controller: int, cluster: Cluster, hosts: Mapping[str, Host]) -> None:
    """The data fabric is a bridge at the controller; each guest also has its host's bridge."""
    there = ("nsenter", f"--target={controller}", "--net", "--", "ip")
    for words in (
        ("link", "add", "fabric", "type", "bridge"),
        ("address", "add", "10.213.0.1/24", "dev", "fabric"),
        ("link", "set", "fabric", "up"),
    ):
        run([*there, *words])
    legs = [(cluster.yarn.resourcemanager.name, "eth0", cluster.resourcemanager_address)]
    legs += [(host.name, host.nics.pf, host.address) for host in cluster.hosts]
    legs += [(g.name, host.nics.vf, g.address) for host in cluster.hosts for g in host.guests]
    for port, (name, leg, address) in enumerate(legs):
        on = hosts[name]
        peer = ("peer", "name", leg, "netns", str(on.net))
        run([*there, "link", "add", f"port{port}", "type", "veth", *peer])
        run([*there, "link", "set", f"port{port}", "master", "fabric", "up"])
        on.in_net("ip", "address", "add", f"{address}/24", "dev", leg)
        on.in_net("ip", "link", "set", leg, "up")
    for host in cluster.hosts:
        hosts[host.name].in_net("ip", "link", "add", host.nics.bridge, "type", "bridge")
        hosts[host.name].in_net("ip", "link", "set", host.nics.bridge, "up")
        for number, guest in enumerate(host.guests):
            tap, on = f"tap{number}", hosts[guest.name]
            nic = ("peer", "name", "virtio0", "address", guest.macs.virtio, "netns", str(on.net))
            hosts[host.name].in_net("ip", "link", "add", tap, "type", "veth", *nic)
            hosts[host.name].in_net("ip", "link", "set", tap, "master", host.nics.bridge, "up")
            on.in_net("ip", "link", "set", "virtio0", "up")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
