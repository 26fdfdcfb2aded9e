"""A package of a distribution, as deb and rpm have it in common."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere

MAINTAINER = "The VAS maintainers <root@localhost>"
_GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")
_ELF = b"\x7fELF"


@dataclass(frozen=True)
class Architecture:
    """A kind of processor by its names in the kernel's and rpm's, and in Debian's words."""

    rpm: str
    deb: str


X86_64 = Architecture("x86_64", "amd64")
_KNOWN = {one.rpm: one for one in (X86_64, Architecture("aarch64", "arm64"))}


def architecture_here() -> Architecture:
    """Returns this machine's kind. Raises NotHere for one whose name is not known."""
    if platform.machine() not in _KNOWN:
        hint = f"build it on {' or '.join(_KNOWN)}"
        raise NotHere("Debian's name of this processor is not known here", hint=hint)
    return _KNOWN[platform.machine()]


@dataclass(frozen=True)
class SystemPackage:
    """A package's names and words, what it needs, and the units that it brings.

    `depends` and `suggests` are names of the distribution's packages, with versions as it writes
    them. `users` is a file of sysusers.d, or empty. `restarted` are the units that an upgrade
    starts again where they run. `architecture` is that of its programs.
    """

    name: str
    version: str
    architecture: Architecture
    summary: str
    text: str
    depends: tuple[str, ...]
    suggests: tuple[str, ...] = ()
    users: str = ""
    units: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()


def oldest_glibc(programs: Iterable[bytes]) -> str:
    """Returns the oldest version of glibc that has all symbols of these programs, like 2.34.

    Raises NotHere if they name none.
    """
    found = [(int(a), int(b)) for program in programs for a, b in _GLIBC.findall(program)]
    if not found:
        raise NotHere("the program names no version of glibc", hint="build it with glibc")
    return ".".join(map(str, max(found)))


def compiled(files: Iterable[Path]) -> Iterator[bytes]:
    """Yields the content of each ELF file."""
    for file in files:
        with file.open("rb") as stream:
            if stream.read(len(_ELF)) == _ELF:
                yield file.read_bytes()
