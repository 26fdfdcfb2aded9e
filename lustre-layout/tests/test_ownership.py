"""Which OST holds a byte: against the OSTs' own counters and a byte-by-byte model."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layout_samples import layouts, vector

from vas_layout.codec import decode
from vas_layout.model import (
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
from vas_layout.ownership import StripeSpan, owned_bytes, stripe_spans

MIB = 1 << 20


def _plain(*osts: int, size: int = MIB) -> Plain:
    objects = tuple(StripeObject(index, Fid(1, index)) for index in osts)
    return Plain(Magic.V1, RAID0, size, len(osts), osts[0], objects=objects)


def test_absolute_offsets_inside_a_component() -> None:
    """Measured on a real Lustre: after a first component of 3 MiB the OSTs go on by offset."""
    osts = [
        (r.offset // MIB, r.ost_idx)
        for r in stripe_spans(decode(vector("made-pfl-1-in-1")), 0, 8 * MIB)
    ]
    assert osts == [(0, 0), (1, 1), (2, 0), (3, 3), (4, 1), (5, 2), (6, 3), (7, 1)]


def test_spans_begin_and_end_where_asked() -> None:
    found = list(stripe_spans(_plain(2, 0), MIB - 10, MIB + 20))
    assert found == [
        StripeSpan(MIB - 10, 10, 2),
        StripeSpan(MIB, MIB, 0),
        StripeSpan(2 * MIB, 10, 2),
    ]


def test_neighbours_on_one_ost_are_one_span() -> None:
    assert list(stripe_spans(_plain(3), 5, 10 * MIB)) == [StripeSpan(5, 10 * MIB, 3)]
    assert list(stripe_spans(_plain(1, 1, 2), 0, 3 * MIB)) == [
        StripeSpan(0, 2 * MIB, 1),
        StripeSpan(2 * MIB, MIB, 2),
    ]


def test_an_empty_range_has_no_spans() -> None:
    assert list(stripe_spans(_plain(1), 7, 0)) == []
    assert list(stripe_spans(decode(vector("pfl")), 7, 0)) == []


@pytest.mark.parametrize(
    ("name", "offset", "reason"),
    [
        ("hsm-released", 0, "released to the archive"),
        ("foreign", 0, "foreign layout"),
        ("dom1-written", 0, "on the MDT"),
        ("dom1", MIB, "component not instantiated"),
        ("domonly", MIB, "past the last component"),
        ("made-sel", 64 * MIB, "extension space, no component yet"),
        ("made-hole-pattern", 0, "objects missing or of an unknown pattern"),
        ("dir-plain", 0, "no objects allocated"),
        ("request-specific", 0, "objects missing or of an unknown pattern"),
    ],
)
def test_ranges_without_a_known_owner_say_why(name: str, offset: int, reason: str) -> None:
    assert next(stripe_spans(decode(vector(name)), offset, 1)) == StripeSpan(
        offset, 1, None, reason
    )


def test_a_stale_mirror_is_not_read() -> None:
    layout = decode(vector("flr2-written"))
    assert isinstance(layout, Composite)
    assert [r.ost_idx for r in stripe_spans(layout, 0, 2 * MIB)] == [3, 0]
    swapped = tuple(
        Component(c.id, c.flags ^ 1, c.extent_start, c.extent_end, c.layout)
        for c in layout.components
    )
    other = Composite(1, 0, 2, swapped)
    assert [r.ost_idx for r in stripe_spans(other, 0, 2 * MIB)] == [2, 1]
    none = Composite(1, 0, 2, (swapped[0], layout.components[1]))
    assert [r.reason for r in stripe_spans(none, 0, 1)] == ["every mirror is stale or offline"]


def test_the_mirror_preferred_for_reading_comes_first() -> None:
    one = Component(0x10001, INIT, 0, None, _plain(1))
    two = Component(0x20002, INIT | 0x2, 0, None, _plain(2))
    assert [r.ost_idx for r in stripe_spans(Composite(1, 0, 2, (one, two)), 0, 1)] == [2]


@pytest.mark.unhurried
@given(layouts, st.integers(0, 1 << 40), st.integers(0, 1 << 22))
def test_runs_cover_the_range_and_owned_bytes_agree(
    layout: Layout, offset: int, length: int
) -> None:
    position, owned = offset, Counter[int | None]()
    for number, span in enumerate(stripe_spans(layout, offset, length)):
        assert span.offset == position and span.length > 0
        assert (span.ost_idx is None) == (span.reason is not None)
        position += span.length
        owned[span.ost_idx] += span.length
        if number > 2000:
            return
    assert position == offset + length
    assert owned_bytes(layout, offset, length) == owned


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(1, 7), st.data())
def test_every_byte_is_where_the_formula_says(
    osts: list[int], size: int, data: st.DataObject
) -> None:
    start, end = data.draw(st.integers(0, 100)), data.draw(st.integers(100, 200))
    plain = _plain(*osts, size=size)
    owner = {
        span.offset + n: span.ost_idx
        for span in stripe_spans(plain, start, end - start)
        for n in range(span.length)
    }
    assert owner == {n: osts[(n // size) % len(osts)] for n in range(start, end)}


def test_owned_bytes_of_a_huge_file_is_quick() -> None:
    started = time.monotonic()
    owned = owned_bytes(_plain(*range(2000), size=65536), 0, 1 << 60)
    assert sum(owned.values()) == 1 << 60
    assert time.monotonic() - started < 1
