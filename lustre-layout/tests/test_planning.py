"""Stripes for splits."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from layout_samples import vector

from vas_core.errors import BadInput
from vas_layout.codec import decode
from vas_layout.model import (
    INIT,
    RAID0,
    Component,
    Composite,
    Fid,
    Magic,
    Plain,
    StripeObject,
)
from vas_layout.ownership import borders, stripe_spans, unowned_reason
from vas_layout.planning import StripePlan, first_broken_split, plan_stripes

MIB = 1 << 20
GIB = 1 << 30


def _as_made(plan: StripePlan, osts: int) -> Plain:
    """The file Lustre would make of a plan on that many OSTs."""
    count = osts if plan.stripe_count == -1 else plan.stripe_count
    objects = tuple(StripeObject(index, Fid(1, index)) for index in range(count))
    return Plain(Magic.V1, RAID0, plan.stripe_size, count, 0, objects=objects)


@given(st.integers(0, 64 * GIB), st.integers(1, GIB >> 16), st.integers(1, 64), st.booleans())
def test_every_split_of_a_planned_file_is_whole(
    size: int, units: int, osts: int, known: bool
) -> None:
    split = units << 16
    plan = plan_stripes(size, split, osts if known else None)
    assert plan.stripe_size == split
    assert first_broken_split(_as_made(plan, osts), min(size, GIB), split) is None


@given(st.integers(1, GIB).filter(lambda split: split % 65536))
def test_a_split_that_no_stripe_has_is_refused_with_the_next_that_one_has(split: int) -> None:
    with pytest.raises(BadInput, match="not a multiple of 64 KiB") as refused:
        plan_stripes(GIB, split, 4)
    hint = refused.value.hint or ""
    aligned = int(hint.removeprefix("give --split ").partition(",")[0])
    assert 0 < aligned - split < 65536
    assert plan_stripes(GIB, aligned, 4).stripe_size == aligned


def test_one_of_a_thing_is_told_as_one() -> None:
    assert plan_stripes(MIB, MIB, 1).reasons[-1] == "1 split over 1 OST: 1 each"


def test_a_plan_uses_no_more_osts_than_there_are_splits() -> None:
    assert plan_stripes(3 * 128 * MIB, 128 * MIB, 8).stripe_count == 3
    assert plan_stripes(0, 128 * MIB, 8).stripe_count == 1
    assert plan_stripes(1, 128 * MIB, None).stripe_count == 1
    assert plan_stripes(GIB, 128 * MIB, None).stripe_count == -1
    assert plan_stripes(1 << 50, MIB, 5000).stripe_count == 2000


def test_a_plan_explains_itself() -> None:
    plan = plan_stripes(10 * GIB, 96 * MIB, 3, "fast")
    assert plan.lfs_arguments == ["-S", "100663296", "-c", "3", "-p", "fast"]
    assert plan.reasons == (
        "stripe size = split size = 96 MiB: a map reads from one OST only",
        "107 splits over 3 OSTs of pool fast: 35 to 36 each",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((GIB, 4 * GIB, 4), "a split of 4 GiB is larger than the largest stripe"),
        ((GIB, 0, 4), "the split must not be empty"),
        ((-1, MIB, 4), "the size must not be negative"),
        ((GIB, MIB, 0), "0 OSTs cannot hold a file"),
    ],
)
def test_impossible_wishes_are_refused(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan_stripes(*arguments)


@pytest.mark.parametrize(
    ("name", "split", "broken"),
    [
        ("S128M", 128 * MIB, None),
        ("S128M", 64 * MIB, None),
        ("S128M", 256 * MIB, 128 * MIB),
        ("c4", 128 * MIB, 4 * MIB),
        ("c1", 128 * MIB, None),
        ("pfl-written", 128 * MIB, MIB),
        ("hsm-released", 128 * MIB, None),
    ],
)
def test_broken_splits_are_found(name: str, split: int, broken: int | None) -> None:
    assert first_broken_split(decode(vector(name)), GIB, split) == broken


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 400),
    st.integers(0, 60),
)
@example([0, 1], 1, 2, 5, 1)
@example([2, 3], 4, 2, 352, 24)
def test_the_first_broken_split_is_that_of_all_borders(
    osts: list[int], size: int, split: int, file_size: int, extent: int
) -> None:
    layout = _two_parts(osts, size, extent)
    every = [span.offset for span in stripe_spans(layout, 0, file_size)]
    expected = next((border for border in every if border % split), None)
    assert first_broken_split(layout, file_size, split) == expected
    found = list(borders(layout, file_size, split))
    assert set(found) <= set(every)
    assert {border % split for border in found} == {border % split for border in every}


def _two_parts(osts: list[int], size: int, extent: int) -> Composite:
    """A progressive file whose second part begins at `extent`; its last part has no objects."""
    objects = tuple(StripeObject(index, Fid(1, index)) for index in osts)
    first = Plain(Magic.V1, RAID0, size, len(osts), osts[0], objects=objects)
    one = Component(1, INIT, 0, extent, first)
    two = Component(2, INIT, extent, 300, replace(first, objects=objects[::-1]))
    return Composite(1, 0, 0, (one, two, Component(3, 0, 300, None, replace(first, objects=()))))


def test_a_sparse_file_of_8_eib_is_judged_at_once() -> None:
    """Any user can make one; a stripe at a time, `layout fix` of its directory never ended."""
    began, size, split = time.monotonic(), (1 << 63) - 1, 128 * MIB
    whole = _as_made(plan_stripes(size, split, 2000), 2000)
    assert first_broken_split(whole, size, split) is None
    first = Component(1, INIT, 0, 1 << 62, replace(whole, stripe_size=65536))
    layout = Composite(1, 0, 0, (first, Component(2, 0, 1 << 62, None, replace(whole, objects=()))))
    assert unowned_reason(layout, 0, size) == "component not instantiated"
    assert unowned_reason(whole, 0, size) is None
    assert time.monotonic() - began < 5
