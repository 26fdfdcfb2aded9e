"""O7: files and trees from outside are read with bounds, and refused in one line."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from vas_core import root
from vas_core.errors import BadInput
from vas_core.reading import read_end, read_limited
from vas_core.root import Root
from vas_core.settings import read_yaml

SECRET = "of this machine"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A captured tree, and outside of it a file that no link of it may reach."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text(SECRET)
    top = tmp_path / "tree"
    (top / "sys/devices/cpu").mkdir(parents=True)
    (top / "sys/class").mkdir()
    (top / "sys/devices/cpu/online").write_text("0-3\n")
    (top / "sys/class/cpu").symlink_to("../devices/cpu")
    (top / "sys/absolute").symlink_to("/sys/devices/cpu/online")
    return top


def test_O7_links_within_a_tree_are_followed(tree: Path) -> None:
    captured = Root(tree)
    assert captured.read("sys/class/cpu/online") == "0-3"
    assert captured.read("sys/absolute") == "0-3"
    assert captured.names("sys/class/cpu") == ["online"]
    assert captured.names("sys/class") == ["cpu"]
    assert captured.link("sys/class/cpu") == Path("../devices/cpu")
    assert captured.link("sys/class/cpu/online") is None
    assert captured.link("sys/none/cpu") is None
    assert captured.read("sys/none") is None
    assert captured.names("sys/none") == []


@pytest.mark.parametrize("target", ["../../secret", "{outside}/secret", "../../../../../../{rest}"])
def test_O7_no_link_out_of_a_tree_is_followed(tree: Path, target: str) -> None:
    outside = tree.parent / "outside"
    target = target.format(outside=outside, rest=str(outside / "secret").lstrip("/"))
    (tree / "sys/leak").symlink_to(target)
    (tree / "sys/directory").symlink_to(outside)
    (tree / "sys/up").symlink_to("../..")
    captured = Root(tree)
    assert captured.read("sys/leak") is None
    assert captured.read("sys/directory/secret") is None
    assert captured.names("sys/directory") == []
    assert captured.names("sys/up") == ["sys"]
    assert captured.read("sys/up/secret") is None
    assert captured.link("sys/directory/secret") is None
    assert list(captured.glob("sys/directory/*")) == []
    assert list(captured.glob("sys/leak")) == []
    assert captured.read("../secret") is None


def test_O7_a_device_is_not_read_until_memory_ends(tree: Path) -> None:
    (tree / "sys/zero").symlink_to("/dev/zero")
    assert Root(tree).read("sys/zero") is None
    if os.geteuid() == 0:
        (tree / "dev").mkdir()
        os.mknod(tree / "dev/zero", 0o020666, os.makedev(1, 5))
        with pytest.raises(BadInput, match="zero: is a device, not a regular file"):
            Root(tree).read("sys/zero")


@pytest.mark.timeout(10)
def test_O7_a_fifo_of_a_tree_keeps_nobody_waiting(tree: Path) -> None:
    os.mkfifo(tree / "sys/fifo")
    with pytest.raises(BadInput, match="sys/fifo: is a FIFO, not a regular file"):
        Root(tree).read("sys/fifo")


def test_O7_links_in_a_circle_are_refused(tree: Path) -> None:
    (tree / "sys/a").symlink_to("b")
    (tree / "sys/b").symlink_to("a")
    for read in (Root(tree).read, Root(tree).names):
        with pytest.raises(BadInput) as refused:
            read("sys/a")
        assert str(refused.value) == f"{tree}/sys/a: symbolic links lead in a circle"


def test_O7_a_file_of_a_tree_has_a_largest_size(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "MOST_BYTES", 1 << 20)
    large = tree / "sys/large"
    large.write_bytes(b"x" * (1 << 20))
    assert Root(tree).read("sys/large") == "x" * (1 << 20)
    os.truncate(large, 1 << 40)
    with pytest.raises(BadInput, match="sys/large: is larger than 1 MiB"):
        Root(tree).read("sys/large")


@pytest.mark.unhurried
@given(st.lists(st.sampled_from(["..", ".", "", "sys", "class", "up", "a", "b"]), max_size=12))
def test_O7_no_path_leaves_a_tree(parts: list[str]) -> None:
    """Whatever links and dots there are, what is reached is what chroot would reach."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name, "tree")
        (top / "sys/class").mkdir(parents=True)
        (Path(name) / "secret").write_text(SECRET)
        (top / "sys/up").symlink_to("../../..")
        (top / "a").symlink_to("sys/class/../up")
        (top / "sys/b").symlink_to("/a/sys")
        relative = "/".join([*parts, "secret"]).lstrip("/")
        with suppress(NotADirectoryError, BadInput):
            assert Root(top).read(relative) is None


def test_O7_no_descriptor_is_left_open(tree: Path) -> None:
    (tree / "sys/a").symlink_to("b/../c")
    (tree / "sys/b").mkdir()
    (tree / "sys/c").symlink_to("c")
    before = len(os.listdir("/proc/self/fd"))
    captured = Root(tree)
    for _ in range(5):
        captured.read("sys/class/cpu/online")
        captured.read("sys/class/../../../..//none")
        captured.names("sys/class")
        captured.link("sys/class/cpu")
        with pytest.raises(BadInput):
            captured.read("sys/a")
    assert len(os.listdir("/proc/self/fd")) == before


class _Settings(BaseModel):
    names: list[str] = []
    number: int = 0


@pytest.mark.unhurried
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: &a [x]\nnames: *a\n", "line 2: has an alias (*)"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "line 2: has an alias (*)"),
        ("names: " + "[" * 100_000, "is nested too deeply"),
        ("number: " + "9" * 5000, "is not valid"),
        ("names: [" + "x, " * 400_000 + "]", "is larger than 1 MiB"),
        ("number: 2024-13-45\n", "is not valid"),
    ],
)
def test_O7_a_bomb_of_settings_is_refused(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as refused:
        read_yaml(file, _Settings)
    said = str(refused.value)
    assert said.startswith(f"{file}: {what}"), said[:200]
    assert "\n" not in said


def test_O7_a_users_file_has_a_largest_size(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345678")
    assert read_limited(file, 8) == b"12345678"
    with pytest.raises(BadInput, match="f: is larger than 7 B, the most that is read"):
        read_limited(file, 7)
    with pytest.raises(BadInput, match="/dev/zero: is a device, not a file"):
        read_limited(Path("/dev/zero"), 8)
    with pytest.raises(BadInput, match="status: is larger than 8 B"):
        read_limited(Path("/proc/self/status"), 8)  # whose size is said to be 0
    with pytest.raises(IsADirectoryError):
        read_limited(tmp_path, 8)
    with pytest.raises(FileNotFoundError):
        read_limited(tmp_path / "none", 8)


@pytest.mark.timeout(10)
def test_O7_a_pipe_is_read_and_one_that_nobody_writes_is_empty(tmp_path: Path) -> None:
    reader, writer = os.pipe()

    def write() -> None:
        os.write(writer, b"x" * 100_000)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert read_limited(Path(f"/dev/fd/{reader}"), 1 << 20) == b"x" * 100_000
    finally:
        os.close(reader)
        thread.join()
    os.mkfifo(tmp_path / "fifo")
    assert read_limited(tmp_path / "fifo", 8) == b""


def test_O7_of_a_log_of_any_length_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "console"
    log.write_bytes(b"short")
    assert read_end(log, 100) == b"short"
    os.truncate(log, 1 << 41)
    with log.open("ab") as stream:
        stream.write(b"the end")
    assert read_end(log, 10) == b"\0\0\0the end"
    log.unlink()
    log.symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="is a device"):
        read_end(log, 10)
