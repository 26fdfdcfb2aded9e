"""Runs checks in a stand-in for Lustre, as it is or with one thing broken."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_lab.lustre.stand_in import LabLustre

CLUSTER = REPOSITORY / "cluster/examples/laptop-lab.yaml"
VAS = (sys.executable, "-P", "-m", "vas_core")
_ONE_CHECK = Path(__file__).parent / "one_check.py"
_MOST_SECONDS = 110


@dataclass(frozen=True)
class AcceptSite:
    """A running stand-in."""

    lab: LabLustre

    def shell(self, command: str) -> Completed:
        """Runs a shell command on the mount."""
        return run(["bash", "-c", command], env=self.lab.environment(), cwd=self.lab.mount)

    def accept(self, *words: str, python: str = sys.executable, check: bool = True) -> Completed:
        """Runs `vas accept` on the mount."""
        argv = [python, *VAS[1:], "accept", str(self.lab.mount), *words]
        env = self.lab.environment() | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return run(argv, env=env, check=check, timeout_seconds=_MOST_SECONDS)

    def check(
        self,
        name: str,
        *,
        broken: str = "",
        programs: Mapping[str, str] | None = None,
        lustre: bool = True,
        **options: Any,
    ) -> dict[str, Any]:
        """Runs one check and returns its result.

        `broken` names a function of one_check.py that breaks something first; `programs` are shell
        scripts that stand before those of the same names (REAL is the one behind); without `lustre`
        the mount is a plain directory.
        """
        env = self.lab.environment()
        if programs:
            env["PATH"] = f"{self._scripts(programs)}:{env['PATH']}"
        if not lustre:
            env.pop("LD_PRELOAD")
        words = [str(self.lab.mount), name, broken, json.dumps(options)]
        argv = [sys.executable, "-P", str(_ONE_CHECK), *words]
        done = run(argv, env=env, timeout_seconds=_MOST_SECONDS)
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    def root(self, mode: str | None = None, second: str | None = None) -> Path:
        """Makes a root tree: the stand-in's files of sysfs, and the mount in a mode of locks.

        `second`: the mode of another mount of the same file system.
        """
        root = self.lab.state_dir / "root"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.lab.sysfs, root / "sys/fs/lustre")
        mounts = root / "proc/self/mounts"
        mounts.parent.mkdir(parents=True)
        line = f"10.77.0.1@tcp:/lab {self.lab.mount} lustre rw,{mode},lazystatfs 0 0\n"
        mounts.write_text(line if mode else "")
        if second:
            other = self.lab.state_dir / "second"
            other.unlink(missing_ok=True)
            other.symlink_to(self.lab.mount)
            line = f"10.77.0.1@tcp:/lab {other} lustre rw,{second},lazystatfs 0 0\n"
            mounts.write_text(mounts.read_text() + line)
        return root

    def serve(self, root: Path, ost: int, nid: str) -> None:
        """Has a root tree name another server of an OST."""
        (found,) = root.glob(f"sys/fs/lustre/osc/lab-OST{ost:04x}-osc-*/ost_conn_uuid")
        found.chmod(0o644)
        found.write_text(f"{nid}\n")

    def _scripts(self, programs: Mapping[str, str]) -> Path:
        directory = self.lab.state_dir / "scripts"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        for name, body in programs.items():
            script = directory / name
            real = shlex.quote(str(self.lab.bin / name))
            script.write_text(f"#!/bin/sh\nREAL={real}\n{body}\n")
            script.chmod(stat.S_IRWXU)
        return directory
