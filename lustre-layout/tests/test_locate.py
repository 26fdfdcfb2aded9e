"""Byte ranges to VMs, and what each VM owns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from layout_samples import site, vector

from vas_core.root import Root
from vas_layout.codec import decode
from vas_layout.locate import SPREAD, Locality, Placement, Share, placements, split_placements
from vas_layout.owners import OstOwners, Source
from vas_layout.table import layout_rows

MIB = 1 << 20


def _owners(tmp_path: Path) -> OstOwners:
    return OstOwners(site(), root=Root(tmp_path))


def test_a_range_is_placed_stripe_by_stripe(tmp_path: Path) -> None:
    layout = decode(vector("made-pfl-1-in-1"))
    found = list(placements(layout, 2 * MIB + 5, 2 * MIB, _owners(tmp_path)))
    assert found == [
        Placement(2 * MIB + 5, MIB - 5, 0, "oss1", "vm1", Source.MAP, None),
        Placement(3 * MIB, MIB, 3, "oss4", "vm4", Source.MAP, None),
        Placement(4 * MIB, 5, 1, "oss2", "vm2", Source.MAP, None),
    ]


def test_what_is_not_known_says_why(tmp_path: Path) -> None:
    (range_,) = placements(decode(vector("made-index-above-9")), 0, MIB, _owners(tmp_path))
    assert (range_.ost, range_.oss, range_.vm) == (31, None, None)
    assert range_.reason == "the OST's server is not in the map"
    (mdt,) = placements(decode(vector("domonly")), 0, MIB, _owners(tmp_path))
    assert (mdt.ost, mdt.source, mdt.reason) == (None, Source.UNKNOWN, "on the MDT")


def test_a_split_has_the_vm_that_owns_more_than_half_of_it(tmp_path: Path) -> None:
    layout = decode(vector("made-pfl-1-in-1"))
    found = list(split_placements(layout, 2 * MIB, 4 * MIB, 4 * MIB, _owners(tmp_path)))
    assert [(p.offset, p.length, p.vm, p.reason) for p in found] == [
        (2 * MIB, 2 * MIB, None, SPREAD),
        (4 * MIB, 2 * MIB, None, SPREAD),
    ]
    (whole,) = split_placements(layout, 2 * MIB + 9, MIB, 4 * MIB, _owners(tmp_path))
    assert (whole.ost, whole.oss, whole.vm, whole.reason) == (0, "oss1", "vm1", None)


def test_a_terabyte_of_small_stripes_is_located_split_by_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vas_layout.locate.runs", lambda *_: pytest.fail("walked the stripes"))
    found = split_placements(decode(vector("S1M")), 0, 1 << 40, 128 * MIB, _owners(tmp_path))
    assert Counter((p.vm, p.reason) for p in found) == {(None, SPREAD): 8192}


def test_a_split_nobody_owns_says_why(tmp_path: Path) -> None:
    found = split_placements(decode(vector("hsm-released")), 0, MIB, MIB, _owners(tmp_path))
    assert [p.reason for p in found] == ["released to the archive"]


def test_locality_adds_up_and_measures_balance(tmp_path: Path) -> None:
    total = Locality(_owners(tmp_path))
    total.add(decode(vector("S1M")), 6 * MIB)
    total.add(decode(vector("hsm-released")), 3 * MIB)
    sizes = {share.vm: share.owned_bytes for share in total.shares()}
    assert sizes[None] == 3 * MIB
    assert sorted(size for vm, size in sizes.items() if vm) == [MIB, MIB, 2 * MIB, 2 * MIB]
    assert total.balance() == 2 / 1.5
    assert total.shares()[0] == Share(None, None, 3 * MIB)


def test_nothing_owned_has_no_balance(tmp_path: Path) -> None:
    assert Locality(_owners(tmp_path)).balance() == 0.0


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
