"""Makes a "Lustre" for the lab's supervisor: directories, processes, environment, sysfs.

The supervisor does the mounting: it bind-mounts `backing` at `mount` and `sysfs` at /sys/fs/lustre,
runs `mds_argv()` inside the lab, and starts every other child with `environment(...)`.
See docs/lab-lustre.md for what the stand-in does and does not do.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.files import write_atomically
from vas_lab.lustre import libc
from vas_lab.lustre.lfs.client import INSTANCE, VERSION
from vas_lab.lustre.mds import client
from vas_lab.lustre.mds.board import Board


@dataclass(frozen=True, kw_only=True)
class LabLustre:
    """A stand-in for one Lustre file system.

    state_dir   everything but the mount: socket, counters, OSTs, library, sysfs files
    mount       where the file system is seen, absolute (cluster.lustre.mount)
    fsname      1-8 characters
    osts        OST indices
    ost_size_bytes  capacity of each OST, as `lfs df` shows it and the allocator weighs it
    """

    state_dir: Path
    mount: Path
    fsname: str
    osts: Sequence[int]
    ost_size_bytes: int = 16 << 30

    @property
    def backing(self) -> Path:
        """The directory with the files, to be bind-mounted at `mount`."""
        return self.state_dir / "data"

    @property
    def sysfs(self) -> Path:
        """The directory to be mounted (or bound) at /sys/fs/lustre."""
        return self.state_dir / "sys-fs-lustre"

    @property
    def socket(self) -> Path:
        """The path of the MDS' socket."""
        return self.state_dir / "mds.sock"

    @property
    def bin(self) -> Path:
        """The directory with `lfs` and `lctl`, put first on PATH by `environment`."""
        return self.state_dir / "bin"

    def prepare(self, nids: Mapping[int, str] | None = None) -> None:
        """Makes the directories, the library, `lfs`, `lctl` and the sysfs files. Repeatable.

        `nids`: OST index -> NID. Raises NotHere without a C compiler, VasError if the library does
        not compile, OSError if a file cannot be written.
        """
        for directory in (self.backing, self.sysfs, self.bin):
            directory.mkdir(parents=True, exist_ok=True)
        libc.build(self.state_dir)
        # Before the first process looks for it; the links of an earlier lab are gone.
        Board(self.state_dir).link(on=False)
        for program in ("lfs", "lctl"):
            self._write_program(program)
        write_atomically(self.sysfs / "version", f"{VERSION}\n", mode=0o444)
        for index in self.osts:
            self.serve(index, (nids or {}).get(index, "0@lo"))

    def mds_argv(self) -> list[str]:
        """Returns the MDS daemon's command line. The MDS may be killed and restarted any time."""
        return [
            sys.executable,
            "-P",
            "-m",
            "vas_lab.lustre.mds",
            *("--state", str(self.state_dir), "--mount", str(self.mount)),
            *("--fsname", self.fsname, "--ost-size", str(self.ost_size_bytes)),
            *("--osts", ",".join(str(index) for index in self.osts)),
        ]

    def wait_ready(self, timeout_seconds: float = 10.0) -> None:
        """Waits until the MDS answers. Raises VasError after `timeout_seconds`."""
        client.wait_ready(self.socket, timeout_seconds)

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Returns `base` (default: this process') with variables that make the mount a Lustre."""
        env = dict(os.environ if base is None else base)
        others = [item for item in env.get("LD_PRELOAD", "").split(":") if item]
        library = str(libc.library_path(self.state_dir))
        env["LD_PRELOAD"] = ":".join([library, *(item for item in others if item != library)])
        env["VAS_LAB_MOUNT"] = str(self.mount)
        env["VAS_LAB_MDS"] = str(self.socket)
        env["PATH"] = f"{self.bin}:{env.get('PATH', os.defpath)}"
        return env

    def serve(self, ost: int, nid: str) -> None:
        """Makes clients see OST `ost` served from `nid`, at the start or as after a failover.

        Raises OSError.
        """
        directory = self.sysfs / "osc" / f"{self.fsname}-OST{ost:04x}-osc-{INSTANCE}"
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / "ost_conn_uuid", f"{nid}\n", mode=0o444)

    def _write_program(self, name: str) -> None:
        words = ["exec", sys.executable, "-P", "-m", f"vas_lab.lustre.{name}"]
        # Both ask the MDT alone, whatever the OSTs do.
        text = f'#!/bin/sh\nexport VAS_LAB_MDT_ONLY=1\n{shlex.join(words)} "$@"\n'
        write_atomically(self.bin / name, text, mode=0o755)
