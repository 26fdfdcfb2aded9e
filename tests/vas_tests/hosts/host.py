"""One emulated host: its namespaces, and how to run programs in them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed, run

_START = Path(__file__).with_name("start.sh")
_UP_SECONDS = 90.0
Mounts = Mapping[str, Path]
"""Path on a host -> the directory of this machine that is mounted there."""


@dataclass
class EmulatedHost:
    """A machine of the test's site: namespaces with a systemd of their own."""

    name: str
    disk: Path
    """What it writes is there, and what the next one of its name starts with."""
    _process: subprocess.Popen[bytes] = field(repr=False)

    @classmethod
    def start(cls, name: str, tree: Path, key: Path, disk: Path, mounts: Mounts) -> EmulatedHost:
        """Starts a host; it has the files that an earlier host left on the same disk.

        Its namespaces are there at once, its systemd after `wait`, and `mounts` before that.
        """
        kinds = ["--net", "--mount", "--pid", "--uts", "--ipc", "--cgroup"]
        argv = ["unshare", *kinds, "--fork", "--kill-child", "--"]
        argv += ["sh", str(_START), str(tree), name, str(key), str(disk)]
        argv += [f"{target}={source}" for target, source in mounts.items()]
        null = subprocess.DEVNULL
        process = subprocess.Popen(argv, stdin=null, stdout=null, stderr=subprocess.PIPE)
        return cls(name, disk, process)

    @property
    def net(self) -> int:
        """Returns the id of a process whose network namespace is the host's."""
        return self._process.pid

    def wait(self) -> None:
        """Waits until the host's systemd has started everything.

        Raises VasError if that takes longer than 90 s, a unit fails, or the host ends.
        """

        def state() -> str:
            if self._process.poll() is not None:
                assert self._process.stderr
                raise VasError(f"did not start: {self._process.stderr.read().decode()}")
            if self.first is None or not _is_systemd(self.first):
                return "no systemd yet"
            return self.run("systemctl", "is-system-running", check=False).stdout.strip()

        ended = ("running", "degraded")
        found = poll(state, lambda s: s in ended, _UP_SECONDS, f"{self.name} to be up")
        if found != "running":
            failed = self.run("systemctl", "--failed", "--no-legend", check=False).stdout
            said = self.run(
                "journalctl", "-b", "-p", "warning", "-n", "40", "--no-pager", check=False
            )
            raise VasError(f"{self.name} is {found}: {failed}\n{said.stdout}")

    @property
    def first(self) -> int | None:
        """Returns the host's process 1, by its id outside the host; None if it has ended."""
        pid = self._process.pid
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(words[0]) if words else None

    def run(self, *argv: str | Path, check: bool = True, stdin: str | None = None) -> Completed:
        """Runs a program in the host, as root.

        Raises CommandFailed if its status is not 0, unless `check` is false.
        """
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
        return run([*self.inside, *argv], check=check, env=clean, stdin=stdin)

    @property
    def inside(self) -> list[str]:
        """Returns the words before a command line that run it in the host, as root."""
        return ["nsenter", f"--target={self.first}", "--all", "--"]

    def in_net(self, *argv: str) -> None:
        """Runs a program of this machine in the host's network. Raises CommandFailed."""
        run(["nsenter", f"--target={self.net}", "--net", "--", *argv])

    def kill(self) -> None:
        """Ends the host as a power failure does."""
        if self._process.poll() is None and self.first:
            os.kill(self.first, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _is_systemd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "systemd"
    except FileNotFoundError:
        return False
