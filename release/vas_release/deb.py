"""Writes vas-shuffled as a Debian package, with the same bytes each time (deb(5)).

The NodeManager starts the daemon, so the package has neither a unit nor a user. It has no
maintainer scripts either, and installs and leaves files alone.
"""

from __future__ import annotations

import hashlib
import platform
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from vas_core.errors import NotHere
from vas_release.artefact import ReleaseFile
from vas_release.built_parts import DAEMON_PROGRAM, check_daemon, daemon_components
from vas_release.source import ReleaseSource
from vas_release.tarball import write_tarball

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
DEB = f"vas-shuffled_{{version}}_{ARCHITECTURES.get(platform.machine(), 'unknown')}.deb"
_GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")
_DOC = "usr/share/doc/vas-shuffled"


def build_deb(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs the daemon for Debian and Ubuntu. Raises NotHere on another kind of processor."""
    check_daemon(source)
    if platform.machine() not in ARCHITECTURES:
        hint = f"build it on {' or '.join(ARCHITECTURES)}"
        raise NotHere("Debian's name of this processor is not known here", hint=hint)
    program = source.repository / DAEMON_PROGRAM
    files = {
        "usr/bin/vas-shuffled": program,
        f"{_DOC}/copyright": source.repository / "LICENSE",
        f"{_DOC}/licences.tsv": source.repository / "core/locks/licences.tsv",
    }
    package = directory / DEB.format(version=source.version)
    control = {
        "control": _control(source.version, program.read_bytes(), files),
        "md5sums": _md5sums(files),
    }
    write_deb(package, control, files, source.epoch)
    yield ReleaseFile(package, daemon_components(source))


def write_deb(
    package: Path, control: Mapping[str, bytes], files: Mapping[str, Path], epoch: int
) -> None:
    """Writes a package from its control files and `files`, path below / -> file.

    Raises OSError if a file cannot be read or the package cannot be written.
    """
    above = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
    tree: dict[str, Path | bytes | None] = {f"./{name}": None for name in above}
    with tempfile.TemporaryDirectory() as name:
        packed = [Path(name, "control.tar.gz"), Path(name, "data.tar.gz")]
        write_tarball(packed[0], {f"./{name}": text for name, text in control.items()}, epoch)
        write_tarball(packed[1], {**tree, **{f"./{n}": f for n, f in files.items()}}, epoch)
        members = [_ar_member("debian-binary", b"2.0\n", epoch)]
        members += [_ar_member(file.name, file.read_bytes(), epoch) for file in packed]
    package.write_bytes(b"!<arch>\n" + b"".join(members))


def oldest_glibc(program: bytes) -> str:
    """Returns the oldest version of glibc that has all symbols of a program, like 2.34.

    Raises NotHere for a program that names none.
    """
    found = [(int(major), int(minor)) for major, minor in _GLIBC.findall(program)]
    if not found:
        raise NotHere("the program names no version of glibc", hint="build it with glibc")
    return ".".join(map(str, max(found)))


def _control(version: str, program: bytes, files: Mapping[str, Path]) -> bytes:
    size_kib = sum(-(-file.stat().st_size // 1024) for file in files.values())
    return (
        "Package: vas-shuffled\n"
        f"Version: {version}\n"
        f"Architecture: {ARCHITECTURES[platform.machine()]}\n"
        "Maintainer: The VAS maintainers <root@localhost>\n"
        f"Installed-Size: {size_kib}\n"
        f"Depends: libc6 (>= {oldest_glibc(program)}), libgcc-s1\n"
        "Section: net\n"
        "Priority: optional\n"
        "Description: serves Hadoop's map output from nodes' own disks\n"
        " The daemon of VAS that a NodeManager starts on each node.\n"
    ).encode()


def _md5sums(files: Mapping[str, Path]) -> bytes:
    """The list that `dpkg --verify` reads; dpkg knows no better digest."""
    sums = {
        name: hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
        for name, file in files.items()
    }
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def _ar_member(name: str, content: bytes, epoch: int) -> bytes:
    header = f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
    return header.encode() + content + b"\n" * (len(content) % 2)
