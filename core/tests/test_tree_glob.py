"""`Root.glob` of a captured tree: bounded, never outside of the tree, one line for a link loop."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vas_core import tree_glob
from vas_core.errors import BadInput
from vas_core.root import Root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A captured tree beside a directory that no pattern may reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").touch()
    top = tmp_path / "tree"
    (top / "etc/ssh/keys").mkdir(parents=True)
    for name in ("etc/ssh/keys/one", "etc/ssh/.two", "etc/hosts"):
        (top / name).touch()
    (top / "etc/within").symlink_to("ssh/keys")
    (top / "etc/nowhere").symlink_to("none")
    return top


def found(top: Path, pattern: str) -> list[str]:
    return [str(path.relative_to(top)) for path in Root(top).glob(pattern)]


def test_what_matches_is_what_pathlib_finds(tree: Path) -> None:
    for pattern in ("etc/*", "*/ssh/*", "etc/**/*", "**/one", "etc/within/o?e", "etc/[hw]*", "**"):
        assert list(Root(tree).glob(pattern)) == sorted(set(tree.glob(pattern))), pattern
    assert found(tree, "etc/within/*") == ["etc/within/one"]
    assert found(tree, "etc/nowhere") == [] == found(tree, "none/*") == found(tree, "etc/hosts/*")


@pytest.mark.parametrize("pattern", ["sys/a", "sys/*", "sys/a/*", "**/a", "sys/a/b/*"])
def test_links_in_a_circle_are_one_bad_input(tree: Path, pattern: str) -> None:
    (tree / "sys").mkdir()
    (tree / "sys/a").symlink_to("b")
    (tree / "sys/b").symlink_to("a")
    with pytest.raises(BadInput, match=r"/sys/a.*: symbolic links lead in a circle$"):
        list(Root(tree).glob(pattern))


@pytest.mark.parametrize("pattern", ["out/*", "out/**/*", "*/secret", "**/secret", "out", "o*"])
@pytest.mark.parametrize("target", ["../outside", "{outside}", "etc/../../outside"])
def test_nothing_outside_is_walked(
    tree: Path, pattern: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tree.parent / "outside"
    (tree / "out").symlink_to(target.format(outside=outside))
    opened: list[str] = []
    listed = os.scandir

    def scandir(place: int) -> Any:
        opened.append(os.readlink(f"/proc/self/fd/{place}"))
        return listed(place)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tree, pattern) == []
    assert str(outside) not in opened


def test_a_search_has_a_largest_size(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_glob, "MOST_ENTRIES", 16)
    assert len(found(tree, "**/*")) == 8  # each is looked at for both parts
    (tree / "one-more").touch()
    with pytest.raises(BadInput, match=r"/tree: has more than 16 entries to compare with \*\*/\*$"):
        found(tree, "**/*")


def test_a_tree_has_a_largest_depth(tree: Path) -> None:
    top = os.open(tree, os.O_PATH)
    for _ in range(150):
        os.mkdir("d", dir_fd=top)
        below = os.open("d", os.O_PATH, dir_fd=top)
        os.close(top)
        top = below
    os.close(top)
    with pytest.raises(BadInput, match="tree: has more than 100 levels of directories"):
        found(tree, "**/*")


PARTS = st.lists(
    st.sampled_from(["..", "*", "**", "a", "up", "absolute", "[s]*", "sys", "loop"]),
    min_size=1,
    max_size=6,
)


@pytest.mark.unhurried
@example(["up", "..", "..", "**"])
@given(PARTS)
def test_no_pattern_leaves_a_tree(parts: list[str]) -> None:
    """Whatever is found is within the tree for the kernel too, and no descriptor is left open."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name, "tree")
        (top / "sys/a").mkdir(parents=True)
        (Path(name) / "secret").touch()
        (top / "sys/up").symlink_to("../..")
        (top / "a").symlink_to("sys/a/..")
        (top / "sys/absolute").symlink_to(name)
        before = len(os.listdir("/proc/self/fd"))
        for path in Root(top).glob("/".join(parts)):
            assert path.resolve().is_relative_to(top.resolve())
        assert len(os.listdir("/proc/self/fd")) == before
