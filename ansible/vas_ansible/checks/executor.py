"""Checks Hadoop's program container-executor that a site names, without running it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vas_ansible.checks.finding import CheckFinding

_OPTION = "vas_hadoop_container_executor"
_CONFIGURATION = re.compile(rb"([!-~]{0,4096})/container-executor\.cfg\0")
# The program lies in /usr/lib/vas, and the role writes /usr/lib/etc/hadoop/container-executor.cfg.
_DIRECTORY = b"../etc/hadoop"
_LARGEST_BYTES = 64 << 20
_FIX = "build it by docs/executor.md, with -DHADOOP_CONF_DIR=../etc/hadoop"


def examine_executor(
    node: str, variables: Mapping[str, object], read: Callable[[str], bytes]
) -> Iterator[CheckFinding]:
    """Yields a finding if the program is not Hadoop's, or reads another configuration than the
    role's.

    `read` returns the bytes of a file of the controller; empty for a missing file.
    """
    path = variables.get(_OPTION)
    if not isinstance(path, str) or not path.startswith("/"):
        return
    program = read(path)
    if not program:
        return  # `examine_files` names it
    found = _CONFIGURATION.search(program)
    if not program.startswith(b"\x7fELF") or not found:
        what = f"{path} is not Hadoop's program container-executor"
        yield CheckFinding(node, _OPTION, what, _FIX)
    elif found[1] != _DIRECTORY:
        where = found[1].decode("ascii")
        what = f"{path} reads {where}/container-executor.cfg, which the role does not write"
        yield CheckFinding(node, _OPTION, what, _FIX)


def bytes_of(path: str) -> bytes:
    """Returns the first 64 MiB of a regular file; nothing if it is missing. Raises OSError."""
    file = Path(path)
    if not file.is_file():
        return b""
    with file.open("rb") as stream:
        return stream.read(_LARGEST_BYTES)
