"""Writes tar archives whose bytes follow from their contents and one time alone."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

_PROGRAM, _FILE = 0o755, 0o644


def write_tarball(
    archive: Path,
    members: Mapping[str, Path | bytes | None],
    epoch: int,
    *,
    keep_links: bool = False,
) -> None:
    """Writes `members`, name in the archive -> file or content, as a tar packed by gzip.

    None stands for a directory; most archives need none, as readers make those of their files.

    Members are sorted and belong to root; their time, and gzip's, is `epoch`. A file that its owner
    may run has mode 0755, all others 0644. A symbolic link is packed as the file that it leads to,
    or with `keep_links` as a link. Raises OSError if a file cannot be read or the archive cannot be
    written.
    """
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for name in sorted(members):
            member, content = _member(name, members[name], keep_links=keep_links)
            member.mtime = epoch
            member.uname = member.gname = "root"
            tar.addfile(member, io.BytesIO(content))


def _member(
    name: str, given: Path | bytes | None, *, keep_links: bool
) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    if given is None:
        member.type, member.mode = tarfile.DIRTYPE, _PROGRAM
        return member, b""
    if isinstance(given, Path) and keep_links and given.is_symlink():
        member.type, member.linkname = tarfile.SYMTYPE, str(given.readlink())
        return member, b""
    content = given.read_bytes() if isinstance(given, Path) else given
    runs = isinstance(given, Path) and given.stat().st_mode & 0o100
    member.size, member.mode = len(content), _PROGRAM if runs else _FILE
    return member, content
