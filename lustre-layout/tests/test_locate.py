"""Byte ranges to VMs, and what each VM owns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from layout_samples import site, vector

from vas_core.root import Root
from vas_layout.codec import decode
from vas_layout.locate import (
    SPREAD,
    OwnedSpan,
    OwnerShare,
    OwnershipTotals,
    block_size,
    owned_spans,
    split_owners,
)
from vas_layout.model import Layout
from vas_layout.owners import OstOwners, Source
from vas_layout.table import layout_rows

MIB = 1 << 20


def _owners(tmp_path: Path) -> OstOwners:
    return OstOwners(site(), root=Root(tmp_path))


def _splits(
    tmp_path: Path, layout: Layout, size: int, split: int, offset: int, length: int
) -> list[OwnedSpan]:
    owners = _owners(tmp_path)
    return list(split_owners(layout, size, split, owners, offset=offset, length=length))


def test_a_range_is_placed_stripe_by_stripe(tmp_path: Path) -> None:
    layout = decode(vector("made-pfl-1-in-1"))
    found = list(owned_spans(layout, 2 * MIB + 5, 2 * MIB, _owners(tmp_path)))
    assert found == [
        OwnedSpan(2 * MIB + 5, MIB - 5, 0, "oss1", "vm1", Source.MAP, None),
        OwnedSpan(3 * MIB, MIB, 3, "oss4", "vm4", Source.MAP, None),
        OwnedSpan(4 * MIB, 5, 1, "oss2", "vm2", Source.MAP, None),
    ]


def test_what_is_not_known_says_why(tmp_path: Path) -> None:
    (range_,) = owned_spans(decode(vector("made-index-above-9")), 0, MIB, _owners(tmp_path))
    assert (range_.ost, range_.oss, range_.vm) == (31, None, None)
    assert range_.reason == "the OST's server is not in the map"
    (mdt,) = owned_spans(decode(vector("domonly")), 0, MIB, _owners(tmp_path))
    assert (mdt.ost, mdt.source, mdt.reason) == (None, Source.UNKNOWN, "on the MDT")


def test_a_split_has_the_vm_that_owns_more_than_half_of_it(tmp_path: Path) -> None:
    layout = decode(vector("made-pfl-1-in-1"))
    found = _splits(tmp_path, layout, 6 * MIB, 4 * MIB, 2 * MIB, 4 * MIB)
    assert [(p.offset, p.length, p.vm, p.reason) for p in found] == [
        (2 * MIB, 2 * MIB, None, SPREAD),
        (4 * MIB, 2 * MIB, None, SPREAD),
    ]
    (whole,) = _splits(tmp_path, layout, 3 * MIB, MIB, 2 * MIB + 9, 9)
    assert (whole.ost, whole.oss, whole.vm, whole.reason) == (0, "oss1", "vm1", None)


@pytest.mark.parametrize("offset", [0, 5, MIB, 3 * MIB - 1])
def test_a_range_does_not_change_whose_a_split_is(tmp_path: Path, offset: int) -> None:
    layout, size = decode(vector("S1M")), 3 * MIB
    (split,) = _splits(tmp_path, layout, size, 4 * MIB, 0, size)
    assert (split.vm, split.reason) == (None, SPREAD)
    (part,) = _splits(tmp_path, layout, size, 4 * MIB, offset, 1)
    assert part == replace(split, offset=offset, length=1)


@pytest.mark.parametrize(("offset", "length"), [(9, 0), (3 * MIB, 5), (3 * MIB + 5, 0), (9, -4)])
def test_nothing_of_a_file_has_no_splits(tmp_path: Path, offset: int, length: int) -> None:
    layout = decode(vector("S1M"))
    assert _splits(tmp_path, layout, 3 * MIB, 2 * MIB, offset, length) == []


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("S16M", 17 * MIB, 16 * MIB),
        ("S16M", 16 * MIB, 128 * MIB),
        ("S1M", 1 << 40, 128 * MIB),
        ("c1", 1 << 40, 128 * MIB),
        ("hsm-released", 1 << 40, 128 * MIB),
    ],
)
def test_the_block_size_is_the_stripe_size_where_that_is_worth_a_task(
    name: str, size: int, expected: int
) -> None:
    layout = decode(vector(name))
    assert block_size(layout, size, normal=128 * MIB, smallest=16 * MIB) == expected


def test_a_terabyte_of_small_stripes_is_located_split_by_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "vas_layout.locate.stripe_spans", lambda *_: pytest.fail("walked the stripes")
    )
    found = _splits(tmp_path, decode(vector("S1M")), 1 << 40, 128 * MIB, 0, 1 << 40)
    assert Counter((p.vm, p.reason) for p in found) == {(None, SPREAD): 8192}


def test_a_split_nobody_owns_says_why(tmp_path: Path) -> None:
    found = _splits(tmp_path, decode(vector("hsm-released")), MIB, MIB, 0, MIB)
    assert [p.reason for p in found] == ["released to the archive"]


def test_locality_adds_up_and_measures_balance(tmp_path: Path) -> None:
    total = OwnershipTotals(_owners(tmp_path))
    total.add(decode(vector("S1M")), 6 * MIB)
    total.add(decode(vector("hsm-released")), 3 * MIB)
    sizes = {share.vm: share.owned_bytes for share in total.shares()}
    assert sizes[None] == 3 * MIB
    assert sorted(size for vm, size in sizes.items() if vm) == [MIB, MIB, 2 * MIB, 2 * MIB]
    assert total.balance() == 2 / 1.5
    assert total.shares()[0] == OwnerShare(None, None, 3 * MIB)


def test_nothing_owned_has_no_balance(tmp_path: Path) -> None:
    assert OwnershipTotals(_owners(tmp_path)).balance() == 0.0


def test_rows_of_a_mirrored_file() -> None:
    rows = list(layout_rows("f", decode(vector("flr2-written"))))
    assert rows == [
        ("f", "0..EOF", "2", "1 MiB", "3,0", "-", "raid0", "mirror 1, init"),
        ("f", "0..EOF", "2", "1 MiB", "2,1", "-", "raid0", "mirror 2, init,stale"),
    ]


def test_rows_of_what_has_no_osts() -> None:
    assert list(layout_rows("f", decode(vector("foreign")))) == [
        ("f", "all", "-", "-", "-", "-", "foreign 0x0", "")
    ]
    (row,) = layout_rows("d", decode(vector("made-dir-C-2")))
    assert row[2:5] == ("-2", "1 MiB", "-")
