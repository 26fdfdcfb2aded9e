"""Archives whose bytes follow from their contents."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from vas_release.tarball import write_tarball


def tree(directory: Path, mode: int, time: int) -> dict[str, Path | bytes]:
    """A program, a file and a link to it, with this mode and time."""
    directory.mkdir()
    for name, runs in (("program", 0o100), ("file", 0)):
        (directory / name).write_text(name)
        (directory / name).chmod(mode | runs)
        os.utime(directory / name, (time, time))
    (directory / "link").symlink_to("file")
    return {f"top/{file.name}": file for file in directory.iterdir()} | {"top/note": b"said"}


@pytest.mark.parametrize("keep_links", [True, False])
def test_owners_modes_times_and_order_do_not_show(tmp_path: Path, keep_links: bool) -> None:
    one, other = tree(tmp_path / "1", 0o600, 1), tree(tmp_path / "2", 0o664, 2**30)
    archives = [tmp_path / "1.tar.gz", tmp_path / "another-name.tar.gz"]
    write_tarball(archives[0], one, 1000, keep_links=keep_links)
    write_tarball(archives[1], dict(reversed(other.items())), 1000, keep_links=keep_links)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    write_tarball(archives[1], other, 1001, keep_links=keep_links)
    assert archives[0].read_bytes() != archives[1].read_bytes()


def test_members_are_as_a_reader_expects_them(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    write_tarball(archive, tree(tmp_path / "tree", 0o600, 1), 1000)
    with tarfile.open(archive) as tar:
        members = {member.name: member for member in tar}
        content = tar.extractfile("top/link")
        assert content and content.read() == b"file"
    assert list(members) == ["top/file", "top/link", "top/note", "top/program"]
    assert [oct(m.mode) for m in members.values()] == ["0o644", "0o644", "0o644", "0o755"]
    assert {(m.uid, m.gid, m.uname, m.mtime) for m in members.values()} == {(0, 0, "root", 1000)}


def test_a_link_is_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    write_tarball(archive, tree(tmp_path / "tree", 0o600, 1), 1000, keep_links=True)
    with tarfile.open(archive) as tar:
        assert tar.getmember("top/link").linkname == "file"
