"""Files that break their splits, and `lfs migrate` by a program of the test's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from layout_samples import VECTORS, vector

from vas_core.errors import VasError
from vas_layout.codec import encode
from vas_layout.lfs import Lfs
from vas_layout.mismatch import LeftAlone, Mismatch, Wish, find_mismatches, migrate
from vas_layout.model import INIT, RAID0, Component, Composite, Fid, Magic, Plain, StripeObject
from vas_layout.paths import files_below
from vas_layout.store import LayoutReader, XattrStore

READER = LayoutReader(XattrStore("user.lustre.lov"))
MIB = 1 << 20
WISH = Wish(128 * MIB, 4)


def _file(path: Path, name: str, size: int = 300 * MIB) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, size)
    os.setxattr(path, "user.lustre.lov", vector(name))
    return path


def test_only_files_that_break_a_split_are_found(tmp_path: Path) -> None:
    _file(tmp_path / "good", "S128M")
    _file(tmp_path / "one-ost", "c1", 100 * MIB)
    _file(tmp_path / "too-few", "c1")
    _file(tmp_path / "small", "c4", 4 * MIB)
    _file(tmp_path / "empty", "pfl", 0)
    (tmp_path / "link").symlink_to("bad")
    _file(tmp_path / "bad", "c4")
    _file(tmp_path / "sub/pfl", "pfl-written")
    _file(tmp_path / "released", "hsm-released")
    (tmp_path / "unreadable").write_text("no layout")
    found = list(find_mismatches(tmp_path, WISH, READER))
    said = [
        f"{one.path.name}: {one.why}" if not isinstance(one, VasError) else f"{one}"
        for one in found
    ]
    assert said == [
        "bad: stripes of 4 MiB: the split at 0 is on several OSTs",
        "released: released to the archive",
        "too-few: too few OSTs: 1, its 3 splits could be on 3",
        f"{tmp_path}/unreadable: has no layout of its own",
        "pfl: 2 components: the split at 0 is on several OSTs",
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("hsm-released", "released to the archive"),
        ("dom1-written", "data on the MDT"),
        ("domonly", "data on the MDT"),
        ("foreign", "foreign layout"),
        ("made-foreign-component", "foreign layout"),
    ],
)
def test_what_must_not_be_migrated_is_left_alone(tmp_path: Path, name: str, why: str) -> None:
    path = _file(tmp_path / "f", name)
    assert list(find_mismatches(tmp_path, WISH, READER)) == [LeftAlone(path, 300 * MIB, why)]


def test_a_file_with_two_names_is_found_once(tmp_path: Path) -> None:
    path = _file(tmp_path / "a", "c4")
    (tmp_path / "b").hardlink_to(path)
    (found,) = find_mismatches(tmp_path, WISH, READER)
    assert isinstance(found, Mismatch)
    assert found.path == path


def test_too_few_osts_are_only_found_where_their_number_is_known(tmp_path: Path) -> None:
    _file(tmp_path / "f", "c1")
    assert list(find_mismatches(tmp_path, Wish(128 * MIB), READER)) == []
    (found,) = find_mismatches(tmp_path, Wish(128 * MIB, 2), READER)
    assert isinstance(found, Mismatch)
    assert found.why == "too few OSTs: 1, its 3 splits could be on 2"


def test_a_directory_that_cannot_be_read_does_not_end_the_search(
    tmp_path: Path, closed: Path
) -> None:
    _file(tmp_path / "z/f", "c4")
    refused, found = find_mismatches(tmp_path, WISH, READER)
    assert str(refused).startswith(f"{closed}: no permission")
    assert isinstance(found, Mismatch)
    assert found.path == tmp_path / "z/f"
    with pytest.raises(VasError, match="no permission"):
        list(files_below(tmp_path))


def test_a_file_outside_the_pool_is_found(tmp_path: Path) -> None:
    _file(tmp_path / "f", "c1")
    _file(tmp_path / "g", "pool")
    (found,) = find_mismatches(tmp_path, Wish(128 * MIB, pool="fast"), READER)
    assert isinstance(found, Mismatch)
    assert (found.path.name, found.why) == ("f", "in pool none")


def _migrating_lfs(tmp_path: Path, name: str) -> Lfs:
    program = tmp_path / "lfs"
    bytes_of = VECTORS / f"{name}.bin"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "assert sys.argv[1:-1] == ['migrate', '-S', '134217728', '-c', '3'], sys.argv\n"
        f"os.setxattr(sys.argv[-1], 'user.lustre.lov', open('{bytes_of}', 'rb').read())\n"
    )
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.machine
def test_migration_is_checked(tmp_path: Path) -> None:
    _file(tmp_path / "d/f", "c4")
    (found,) = find_mismatches(tmp_path / "d", WISH, READER)
    assert isinstance(found, Mismatch)
    migrate(found, _migrating_lfs(tmp_path, "S128M"), WISH, READER)
    assert list(find_mismatches(tmp_path / "d", WISH, READER)) == []
    with pytest.raises(VasError, match="d/f: migrated, and still: stripes of 1 MiB"):
        migrate(found, _migrating_lfs(tmp_path, "S1M"), WISH, READER)


@pytest.mark.parametrize("later", [(0, 1, 2, 3), (2, 1, 0, 3)])
def test_R4_a_progressive_file_of_lustre_is_left_as_it_is(
    tmp_path: Path, later: tuple[int, ...]
) -> None:
    """The first block may lie on the OST of a later one: four blocks on three OSTs are no fault."""
    first = Plain(Magic.V1, RAID0, 128 * MIB, 1, 3, objects=(StripeObject(3, Fid(1, 1)),))
    objects = tuple(StripeObject(ost, Fid(1, 2 + ost)) for ost in later)
    rest = Plain(Magic.V1, RAID0, 128 * MIB, 4, later[0], objects=objects)
    layout = Composite(
        2,
        0,
        1,
        (Component(1, INIT, 0, 128 * MIB, first), Component(2, INIT, 128 * MIB, None, rest)),
    )
    path = _file(tmp_path / "ours", "c1", 512 * MIB)
    os.setxattr(path, "user.lustre.lov", encode(layout))
    assert len({3, *later[1:]}) == 3
    assert list(find_mismatches(tmp_path, WISH, READER)) == []
