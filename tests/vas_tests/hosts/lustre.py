"""Stands in for Lustre on the machines of a site: a directory that all but the servers mount.

With the lab's stand-in it is more than a directory: files have layouts, and there is `lfs`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from vas_cluster import Cluster
from vas_core.repository import REPOSITORY
from vas_lab.lustre.stand_in import LabLustre
from vas_tests.hosts.host import EmulatedHost, Mounts

STATE = Path("/run/vas-lustre")
"""Where the machines have the stand-in's library, programs and socket."""
_READY_SECONDS = 30.0
_PYTHON = "/usr/bin/python3"
# All that `lfs`, `lctl` and the MDS import: the machines have Debian's Python and no library.
_PACKAGES = ("core/vas_core", "lab/vas_lab", "lustre-layout/vas_layout")
# Root's and everybody's, whatever environment they are called with.
_PROGRAM = """#!/bin/sh
{variables}
export VAS_LAB_MDT_ONLY=1 PYTHONPATH={state}/python PYTHONDONTWRITEBYTECODE=1
exec {python} -P -m vas_lab.lustre.{name} "$@"
"""


@contextmanager
def shared_directory() -> Iterator[Path]:
    """Makes a directory in memory for the body, in which everybody may write; yields it.

    It takes user attributes from Linux 6.6 on.
    """
    with TemporaryDirectory(prefix="vas-shared-", dir="/dev/shm") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@dataclass(frozen=True)
class SharedLustre:
    """The lab's stand-in for Lustre, for the machines of a site.

    `outside` has its paths on this machine, `inside` on those that mount it.
    """

    outside: LabLustre
    inside: LabLustre

    @classmethod
    @contextmanager
    def of(cls, cluster: Cluster) -> Iterator[SharedLustre]:
        """Makes the file system of a map for the body; yields it. Nobody serves it yet.

        Raises NotHere without a C compiler, VasError if the library does not compile.
        """
        nids = {ost: host.nids[0] for host in cluster.hosts for ost in host.osts}
        with shared_directory() as directory:
            outside = LabLustre(
                state_dir=directory / "state",
                mount=Path(cluster.lustre.mount),
                fsname=cluster.lustre.fsname,
                osts=sorted(nids),
            )
            outside.prepare(nids)
            made = cls(outside, replace(outside, state_dir=STATE))
            made._write_programs()
            yield made

    def _write_programs(self) -> None:
        for package in _PACKAGES:
            target = self.outside.state_dir / "python" / Path(package).name
            unneeded = shutil.ignore_patterns("__pycache__")
            shutil.copytree(REPOSITORY / package, target, ignore=unneeded)
        # Python's own files are not on the mount.
        known = {name: text for name, text in self.variables.items() if name != "LD_PRELOAD"}
        variables = "\n".join(f"export {name}={text}" for name, text in known.items())
        for name in ("lfs", "lctl"):
            text = _PROGRAM.format(name=name, variables=variables, state=STATE, python=_PYTHON)
            (self.outside.bin / name).write_text(text)

    @property
    def mounts(self) -> Mounts:
        """Returns what a machine mounts before it starts."""
        return {
            str(self.outside.mount): self.outside.backing,
            str(STATE): self.outside.state_dir,
            "/sys/fs/lustre": self.outside.sysfs,
        }

    @property
    def variables(self) -> dict[str, str]:
        """Returns the environment in which a program sees a Lustre at the mount point."""
        found = self.inside.environment({})
        return {name: text for name, text in found.items() if name != "PATH"}

    @property
    def properties(self) -> dict[str, str]:
        """Returns Hadoop's properties by which containers, too, see a Lustre."""
        prefix = "yarn.nodemanager.admin-env"
        return {f"{prefix}.{name}": text for name, text in self.variables.items()}

    def install(self, machine: EmulatedHost) -> None:
        """Gives a machine `lfs` and `lctl`, and services and logins the environment.

        Its files stay when it starts again. Raises CommandFailed.
        """
        lines = [f"{name}={text}" for name, text in self.variables.items()]
        machine.run("tee", "-a", "/etc/environment", stdin="".join(f"{one}\n" for one in lines))
        manager = f"[Manager]\nDefaultEnvironment={' '.join(lines)}\n"
        file = "/etc/systemd/system.conf.d/90-lustre.conf"
        machine.run("install", "-D", "-m", "0644", "/dev/stdin", file, stdin=manager)
        machine.run("systemctl", "daemon-reload")
        for name in ("lfs", "lctl"):
            machine.run("ln", "-s", STATE / "bin" / name, f"/usr/bin/{name}")

    @contextmanager
    def served_by(self, machine: EmulatedHost) -> Iterator[None]:
        """Runs the MDS on a machine for the body. Raises VasError if it does not answer."""
        program = ["env", f"PYTHONPATH={STATE}/python", _PYTHON, *self.inside.mds_argv()[1:]]
        with (self.outside.state_dir / "mds.log").open("wb") as log:
            null = subprocess.DEVNULL
            argv = [*machine.inside, *program]
            process = subprocess.Popen(argv, stdin=null, stdout=log, stderr=log)
        try:
            self.outside.wait_ready(_READY_SECONDS)
            # In a lab all are one user.
            self.outside.socket.chmod(0o666)
            yield
        finally:
            process.kill()
            process.wait()
