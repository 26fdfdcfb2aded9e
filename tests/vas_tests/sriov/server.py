"""A storage server that is a machine with real virtual functions, for Ansible's roles.

The roles' files and packages are made while it is still a host in namespaces, in a tenth of the
time; then the same disk is booted: Debian's systemd as process 1, udev, networkd and sshd, beside
an igb adapter. Ansible connects through the adapter itself.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from vas_cluster import Host as Described
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_tests.hosts.host import EmulatedHost
from vas_tests.hosts.network import plug_tap, unplugged
from vas_tests.hosts.site import MAP, Site
from vas_tests.hosts.tree import tree
from vas_tests.kernel import halting_kernel
from vas_tests.sriov.agent import TIED
from vas_tests.sriov.guests import small
from vas_tests.sriov.machines import PF_MAC, host_argv
from vas_tests.sriov.rig import make_boot

NAME = "oss1"
KERNEL = "/usr/local/lib/vas-tests/halting"
"""On the machine: what its guests boot; it says a word, and halts."""
_NETWORK = "10.213.0"
_MAKE = Path(__file__).with_name("server.sh")
_BOOT_SECONDS = 600.0
_FILES = {
    "/etc/systemd/network/10-pf.link": "[Match]\nMACAddress={mac}\n[Link]\nName={pf}\n",
    "/etc/systemd/network/10-pf.network": "[Match]\nName={pf}\n[Network]\nAddress={address}/24\n",
    "/etc/modules-load.d/disk.conf": "brd\n",
    "/etc/modprobe.d/disk.conf": "options brd rd_nr=1 rd_size=16384\n",
}


def map_with(guests: int) -> str:
    """Returns the text of the map of Ansible's hosts, with this number of small guests."""
    value = yaml.safe_load(MAP.read_text())
    value["hosts"][0]["guests"] = [small(n, _NETWORK, n - 1) for n in range(1, guests + 1)]
    return yaml.safe_dump(value)


@dataclass
class SriovServer(EmulatedHost):
    """A storage server that is a QEMU machine; `ssh` are the words that run a command on it."""

    ssh: Sequence[str] = ()

    def run(self, *argv: str | Path, check: bool = True, stdin: str | None = None) -> Completed:
        """Runs a program on the machine, as root, by SSH.

        Raises CommandFailed if its status is not 0, unless `check` is false.
        """
        words = shlex.join(["env", "LC_ALL=C", *map(str, argv)])
        return run([*self.ssh, words], check=check, stdin=stdin)

    def wait(self) -> None:
        """Waits until the machine's systemd has started everything.

        Raises VasError if that takes longer than 600 s, a unit fails, or the machine ends.
        """

        def state() -> str:
            if self._process.poll() is not None:
                raise VasError(f"ended with status {self._process.returncode}", where=self.name)
            return self.run("systemctl", "is-system-running", check=False).stdout.strip()

        ended = ("running", "degraded")
        found = poll(state, lambda s: s in ended, _BOOT_SECONDS, f"{self.name} to be up")
        if found != "running":
            failed = self.run("systemctl", "--failed", "--no-legend", check=False).stdout
            raise VasError(f"{self.name} is {found}: {failed}")


def booted(site: Site, directory: Path) -> SriovServer:
    """Ends the site's server, boots its disk as a machine with an igb adapter, and returns it.

    `directory` gets its console. The machine ends with the site.
    """
    host, server = site.cluster.hosts[0], site.hosts[NAME]
    _configure(server, host)
    server.kill()
    unplugged(site.controller, NAME)
    kernel = server.disk / "upper" / KERNEL[1:]
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(halting_kernel(b"halted"))
    image = server.disk / "root.ext4"
    run(["unshare", "--mount", "sh", _MAKE, tree(), server.disk, image])
    boot = make_boot(directory.absolute(), {"VAS_DISK": "/dev/vda"})
    argv = host_argv(boot, NAME, {}, f"to-{NAME}", directory.absolute() / "server.console")
    argv += ["-drive", f"file={image},format=raw,if=virtio,cache=unsafe"]
    process = subprocess.Popen([*site.inside, *TIED, *argv], stdin=subprocess.DEVNULL)
    machine = SriovServer(NAME, server.disk, process, site.ssh(host.address))
    site.hosts[NAME] = machine
    plug_tap(site.controller, NAME)
    machine.wait()
    return machine


def _configure(server: EmulatedHost, described: Described) -> None:
    """What an administrator would have set up: the adapter's name and address."""
    known = {"mac": PF_MAC, "pf": described.nics.pf, "address": described.address}
    for path, text in _FILES.items():
        server.run("mkdir", "-p", Path(path).parent)
        server.run("tee", path, stdin=text.format(**known))
    server.run("systemctl", "enable", "systemd-networkd.service")
