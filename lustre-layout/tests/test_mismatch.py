"""Files that break their splits, and `lfs migrate` by a program of the test's own."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from layout_samples import VECTORS, vector

from vas_core.errors import VasError
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.mismatch import LayoutTarget, LeftAlone, Mismatch, find_mismatches, migrate
from vas_layout.model import (
    EXTENSION,
    INIT,
    RAID0,
    Component,
    Composite,
    Fid,
    Layout,
    Magic,
    Plain,
    StripeObject,
)
from vas_layout.paths import files_below
from vas_layout.store import LayoutReader, XattrStore

READER = LayoutReader(XattrStore("user.lustre.lov"))
MIB = 1 << 20
TARGET = LayoutTarget(128 * MIB, 4)


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
    found = list(find_mismatches(tmp_path, TARGET, READER))
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
    assert list(find_mismatches(tmp_path, TARGET, READER)) == [LeftAlone(path, 300 * MIB, why)]


def test_a_file_with_two_names_is_found_once(tmp_path: Path) -> None:
    path = _file(tmp_path / "a", "c4")
    (tmp_path / "b").hardlink_to(path)
    (found,) = find_mismatches(tmp_path, TARGET, READER)
    assert isinstance(found, Mismatch)
    assert found.path == path


def test_too_few_osts_are_only_found_where_their_number_is_known(tmp_path: Path) -> None:
    _file(tmp_path / "f", "c1")
    assert list(find_mismatches(tmp_path, LayoutTarget(128 * MIB), READER)) == []
    (found,) = find_mismatches(tmp_path, LayoutTarget(128 * MIB, 2), READER)
    assert isinstance(found, Mismatch)
    assert found.why == "too few OSTs: 1, its 3 splits could be on 2"


def test_a_directory_that_cannot_be_read_does_not_end_the_search(
    tmp_path: Path, closed: Path
) -> None:
    _file(tmp_path / "z/f", "c4")
    refused, found = find_mismatches(tmp_path, TARGET, READER)
    assert str(refused).startswith(f"{closed}: no permission")
    assert isinstance(found, Mismatch)
    assert found.path == tmp_path / "z/f"
    with pytest.raises(VasError, match="no permission"):
        list(files_below(tmp_path))


def test_a_file_outside_the_pool_is_found(tmp_path: Path) -> None:
    _file(tmp_path / "f", "c1")
    _file(tmp_path / "g", "pool")
    (found,) = find_mismatches(tmp_path, LayoutTarget(128 * MIB, pool="fast"), READER)
    assert isinstance(found, Mismatch)
    assert (found.path.name, found.why) == ("f", "in pool none")


def _migrating_lfs(tmp_path: Path, name: str) -> Lfs:
    program = tmp_path / "lfs"
    bytes_of = VECTORS / f"{name}.bin"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "told = ['migrate', '--non-block', '-S', '134217728', '-c', '3']\n"
        "assert sys.argv[1:-1] == told, sys.argv\n"
        f"os.setxattr(sys.argv[-1], 'user.lustre.lov', open('{bytes_of}', 'rb').read())\n"
    )
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.machine
def test_migration_is_checked(tmp_path: Path) -> None:
    _file(tmp_path / "d/f", "c4")
    (found,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(found, Mismatch)
    migrate(found, _migrating_lfs(tmp_path, "S128M"), TARGET, READER)
    assert list(find_mismatches(tmp_path / "d", TARGET, READER)) == []
    os.setxattr(tmp_path / "d/f", "user.lustre.lov", vector("c4"))
    with pytest.raises(VasError, match="d/f: migrated, and still: stripes of 1 MiB"):
        migrate(found, _migrating_lfs(tmp_path, "S1M"), TARGET, READER)


def _with(name: str, **changes: object) -> bytes:
    layout = decode(vector(name))
    return encode(replace(layout, **changes))


def _first(layout: Layout, **changes: object) -> Composite:
    assert isinstance(layout, Composite)
    first, *rest = layout.components
    return replace(layout, components=(replace(first, **changes), *rest))


MIRRORED = "2 mirrors: a migration would keep one copy only"
STRANGE = {
    "mirrored": (vector("flr2-written"), MIRRORED),
    "mirrored-new": (vector("flr2"), MIRRORED),
    "self-extending": (
        encode(_first(decode(vector("pfl-written")), flags=INIT | EXTENSION)),
        "self-extending",
    ),
    "unknown-flag": (
        encode(_first(decode(vector("pfl-written")), flags=INIT | 0x100)),
        "flags that a migration would lose: 0x100",
    ),
    "pools": (vector("pfl-pool-written"), "components in different pools"),
    "unknown-state": (_with("pfl-written", flags=0x10), "flags that a migration would lose: 0x10"),
    "unknown-pattern": (
        _with("c4", pattern=0x20001),
        "a pattern that VAS does not know: 0x20001",
    ),
}


@pytest.mark.parametrize("name", STRANGE)
def test_R2_what_a_migration_would_lose_is_left_alone(tmp_path: Path, name: str) -> None:
    path, (content, why) = _file(tmp_path / "f", "c4"), STRANGE[name]
    os.setxattr(path, "user.lustre.lov", content)
    assert list(find_mismatches(tmp_path, TARGET, READER)) == [LeftAlone(path, 300 * MIB, why)]


def test_R2_a_file_stays_in_its_pool_and_is_not_asked_for_more_osts_than_it_has(
    tmp_path: Path,
) -> None:
    _file(tmp_path / "f", "pool-c2")
    (found,) = find_mismatches(
        tmp_path, LayoutTarget(128 * MIB, 4, members={"fast": 2}.get), READER
    )
    assert isinstance(found, Mismatch)
    assert (found.plan.pool, found.plan.stripe_count) == ("fast", 2)
    (unknown,) = find_mismatches(tmp_path, TARGET, READER)
    assert isinstance(unknown, Mismatch)
    assert (unknown.plan.pool, unknown.plan.stripe_count) == ("fast", -1)


def _lfs(tmp_path: Path, body: str) -> Lfs:
    program = tmp_path / "lfs"
    program.write_text(f"#!{sys.executable}\nimport os, sys\n{body}\n")
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.machine
@pytest.mark.parametrize("status", [16, 11])
def test_H6_a_file_in_use_is_left_alone(tmp_path: Path, status: int) -> None:
    path = _file(tmp_path / "d/f", "c4")
    (found,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(found, Mismatch)
    lfs = _lfs(tmp_path, f"sys.exit({status} if '--non-block' in sys.argv else 0)")
    assert migrate(found, lfs, TARGET, READER) == "in use, left alone"
    assert os.getxattr(path, "user.lustre.lov") == vector("c4")


@pytest.mark.machine
def test_H6_another_error_of_a_migration_is_not_taken_for_use(tmp_path: Path) -> None:
    _file(tmp_path / "d/f", "c4")
    (found,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(found, Mismatch)
    with pytest.raises(LayoutUnavailableError) as refused:
        migrate(found, _lfs(tmp_path, f"sys.exit({errno.EIO})"), TARGET, READER)
    assert refused.value.errno == errno.EIO


@pytest.mark.machine
def test_R2_a_file_that_grew_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Its plan was made for fewer splits."""
    path = _file(tmp_path / "d/f", "c4", 100 * MIB)
    (found,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(found, Mismatch)
    os.truncate(path, 300 * MIB)
    lfs = _lfs(tmp_path, "sys.exit('nobody may migrate it')")
    assert migrate(found, lfs, TARGET, READER) == "changed meanwhile, left alone"


@pytest.mark.machine
def test_R2_what_was_achieved_is_said(tmp_path: Path) -> None:
    """Three OSTs were asked for: one more is told, no more than before is an error."""
    path = _file(tmp_path / "d/f", "c1")
    (found,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(found, Mismatch)
    two = tmp_path / "two.bin"
    layout = decode(vector("c2"))
    assert isinstance(layout, Plain)
    two.write_bytes(encode(replace(layout, stripe_size=128 * MIB)))
    lfs = _lfs(
        tmp_path, f"os.setxattr(sys.argv[-1], 'user.lustre.lov', open('{two}', 'rb').read())"
    )
    assert migrate(found, lfs, TARGET, READER) == "migrated to 2 OSTs, 3 were requested"
    (again,) = find_mismatches(tmp_path / "d", TARGET, READER)
    assert isinstance(again, Mismatch)
    with pytest.raises(VasError, match="migrated, and still on 2 OSTs: Lustre gave it no more"):
        migrate(again, lfs, TARGET, READER)
    os.setxattr(path, "user.lustre.lov", vector("flr2-written"))
    assert migrate(again, lfs, TARGET, READER) == "changed meanwhile, left alone"
    assert os.getxattr(path, "user.lustre.lov") == vector("flr2-written")


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
    assert list(find_mismatches(tmp_path, TARGET, READER)) == []
