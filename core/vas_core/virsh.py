"""Calls libvirt through the program `virsh`, as libvirt's Python library has no wheels."""

from __future__ import annotations

import os

from vas_core.errors import VasError
from vas_core.process import CommandFailed, run

# To start a guest whose memory a VF pins takes more than 30 s where all is emulated.
_TIMEOUT_SECONDS = 120.0


def virsh(uri: str | None, *words: str, stdin: str | None = None) -> str:
    """Runs a command of virsh at a connection URI and returns its output; None is virsh's default.

    Raises VasError with what virsh printed, NotHere without virsh.
    """
    # Its messages are shown beside ours: in one language.
    env = {**os.environ, "LC_ALL": "C"}
    argv = ["virsh", "--quiet", *(["--connect", uri] if uri else []), *words]
    try:
        return run(argv, stdin=stdin, env=env, timeout_seconds=_TIMEOUT_SECONDS).stdout
    except CommandFailed as failed:
        said = " ".join(failed.completed.stderr.replace("error: ", "").split())
        nobody = "failed to connect to the hypervisor" in said
        hint = "start libvirt here, or name another one by --connect" if nobody else None
        raise VasError(said or str(failed), where=f"virsh {words[0]}", hint=hint) from None
