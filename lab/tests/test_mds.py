"""How the MDS allocates, counts and remembers. The pure parts; no process."""

from __future__ import annotations

import errno
import os
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_lab.lustre.mds import usage
from vas_lab.lustre.mds.allocator import Allocator, is_balanced
from vas_lab.lustre.mds.layouts import Maker, default_size
from vas_lab.lustre.mds.service import MdsSite, Service
from vas_lab.lustre.mds.state import MdsState
from vas_layout.codec import encode
from vas_layout.model import INIT, Component, Composite, Fid, Magic, Plain, StripeObject
from vas_layout.requests import progressive, stripes

GIB = 1 << 30
OSTS = [0, 1, 2, 3]
EVEN = dict.fromkeys(OSTS, GIB)


def allocator(osts: list[int] | None = None, seed: int = 1) -> Allocator:
    return Allocator(osts or OSTS, random.Random(seed))


def test_single_stripes_go_round() -> None:
    chooser = allocator()
    chosen = [chooser.choose(1, EVEN)[0] for _ in range(40)]
    assert Counter(chosen) == dict.fromkeys(OSTS, 10)
    assert {(after - before) % 4 for before, after in pairwise(chosen)} == {1}


def test_the_first_ost_is_random() -> None:
    assert {allocator(seed=seed).choose(1, EVEN)[0] for seed in range(50)} == set(OSTS)


def test_wide_files_start_on_every_ost() -> None:
    chooser = allocator()
    assert {chooser.choose(4, EVEN)[0] for _ in range(8)} == set(OSTS)


def test_past_the_threshold_free_space_decides() -> None:
    uneven = {0: GIB, 1: GIB, 2: GIB, 3: GIB // 10}
    chooser = allocator()
    counts = Counter(chooser.choose(1, uneven)[0] for _ in range(3100))
    assert counts[3] == pytest.approx(100, abs=45)
    assert min(counts[ost] for ost in (0, 1, 2)) > 850
    assert is_balanced([GIB, GIB * 84 // 100])
    assert not is_balanced([GIB, GIB * 82 // 100])


def test_a_full_ost_is_left_out_and_all_full_is_enospc() -> None:
    chooser = allocator()
    assert 2 not in {ost for _ in range(20) for ost in chooser.choose(2, {**EVEN, 2: 0})}
    with pytest.raises(OSError, match="full") as full:
        chooser.choose(1, dict.fromkeys(OSTS, 0))
    assert full.value.errno == errno.ENOSPC


@given(
    st.integers(1, 12),
    st.lists(st.integers(2 << 20, GIB), min_size=4, max_size=4),
    st.none() | st.integers(0, 3),
)
def test_no_ost_twice_before_all_are_used(count: int, free: list[int], start: int | None) -> None:
    chosen = allocator().choose(count, dict(enumerate(free)), start=start)
    assert len(chosen) == count
    assert start is None or chosen[0] == start
    times = Counter(chosen)
    assert max(times.values()) - min(times[ost] for ost in OSTS) <= 1


def maker(pools: dict[str, list[int]] | None = None) -> Maker:
    chooser, numbers = allocator(), iter(range(1, 10**6))
    return Maker(
        lambda count, pool, start, avoid: chooser.choose(
            count, EVEN, pool=pool, start=start, avoid=avoid
        ),
        lambda ost: Fid(0x280000400 + ost, next(numbers)),
        lambda: OSTS,
        pools or {},
        OSTS,
    )


def test_a_missing_pool_is_kept_by_name_and_allocates_anywhere() -> None:
    # A real MDS does the same for a client that does not check (lfs 2.15).
    made = maker().instantiate(stripes(0, -1, pool="gone"), Fid(1, 1))
    assert isinstance(made, Plain)
    assert (made.pool, len(made.objects), made.magic) == ("gone", 4, Magic.V3)


def test_a_file_copied_with_its_xattr_gets_objects_of_its_own() -> None:
    make = maker()
    first = make.instantiate(stripes(65536, 2), Fid(1, 1))
    second = make.instantiate(first, Fid(1, 2))
    assert isinstance(first, Plain)
    assert isinstance(second, Plain)
    assert (second.stripe_size, second.stripe_count) == (65536, 2)
    assert {o.fid for o in first.objects}.isdisjoint(o.fid for o in second.objects)


@pytest.mark.parametrize(
    ("end", "size"), [(None, 4 << 20), (1 << 20, 1 << 20), (16 << 20, 4 << 20), (3 << 20, 1 << 20)]
)
def test_a_component_ends_on_a_stripe(end: int | None, size: int) -> None:
    assert default_size(end) == size
    assert end is None or end % size == 0


@given(st.integers(1, 64 << 20), st.integers(1, 64 << 20))
def test_growing_in_steps_or_at_once_instantiates_the_same(first: int, second: int) -> None:
    request = progressive(
        [(1 << 20, stripes(0, 1)), (16 << 20, stripes(0, 2)), (None, stripes(0, -1))]
    )
    layout = maker().instantiate(request, Fid(1, 1))
    steps = maker().grow(maker().grow(layout, first), max(first, second))
    at_once = maker().grow(layout, max(first, second))
    assert isinstance(steps, Composite)
    assert isinstance(at_once, Composite)
    assert [c.flags for c in steps.components] == [c.flags for c in at_once.components]


def bytes_slowly(layout: Plain, start: int, end: int) -> Counter[int]:
    count: Counter[int] = Counter()
    for offset in range(start, end, 65536):
        place = offset // layout.stripe_size % len(layout.objects)
        count[layout.objects[place].ost_idx] += min(65536, end - offset)
    return count


@given(
    st.integers(1, 4),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.integers(0, 100 * 65536),
    st.integers(0, 50).map(lambda k: k * 65536),
)
def test_bytes_by_ost(units: int, osts: list[int], size: int, start: int) -> None:
    objects = tuple(StripeObject(ost) for ost in osts)
    plain = Plain(Magic.V1, 1, units * 65536, len(osts), osts[0], objects=objects)
    assert +usage.bytes_by_ost(plain, size) == +bytes_slowly(plain, 0, size)
    part = Composite(1, 0, 1, (Component(1, INIT, start, None, plain),))
    assert +usage.bytes_by_ost(part, size) == +bytes_slowly(plain, start, size)


def site(tmp_path: Path, ost_bytes: int = GIB) -> MdsSite:
    (tmp_path / "data").mkdir(exist_ok=True)
    return MdsSite(
        state_dir=tmp_path, mount=tmp_path / "data", fsname="lab", osts=OSTS, ost_bytes=ost_bytes
    )


def set_layout(service: Service, path: Path, request: Plain) -> None:
    path.touch()
    file = os.open(path, os.O_RDONLY)
    try:
        service.answer({"op": "set", "value": encode(request).hex()}, file)
    finally:
        os.close(file)


def test_fill_follows_the_files_and_new_ones_avoid_it(tmp_path: Path) -> None:
    service = Service(site(tmp_path, 100 << 20))
    set_layout(service, tmp_path / "data/big", stripes(1 << 20, 2, osts=[0, 1]))
    os.truncate(tmp_path / "data/big", 190 << 20)
    space = service.answer({"op": "df"}, None)["osts"]
    assert [space[str(ost)]["used_bytes"] >> 20 for ost in OSTS] == [95, 95, 0, 0]
    assert (tmp_path / "ost/OST0000/used_bytes").read_text() == f"{95 << 20}\n"
    firsts = Counter()
    for number in range(60):
        set_layout(service, tmp_path / f"data/f{number}", stripes(0, 1))
        raw = os.getxattr(tmp_path / f"data/f{number}", "user.lustre.lov")
        layout = usage.decoded(raw)
        assert isinstance(layout, Plain)
        firsts[layout.objects[0].ost_idx] += 1
    assert firsts[2] + firsts[3] > 45


def test_what_is_asked_of_files_is_counted(tmp_path: Path) -> None:
    service = Service(site(tmp_path))
    set_layout(service, tmp_path / "data/a", stripes(0, 1))
    set_layout(service, tmp_path / "data/b", stripes(0, 1))
    service.answer({"op": "df"}, None)
    assert service.answer({"op": "asked"}, None) == {"asked": 2}


def test_ballast_plays_an_unbalanced_system(tmp_path: Path) -> None:
    service = Service(site(tmp_path))
    (tmp_path / "ost/OST0002/ballast").write_text("1GiB\n")
    space = service.answer({"op": "df"}, None)["osts"]
    assert [space[str(ost)]["used_bytes"] for ost in OSTS] == [0, 0, GIB, 0]


def test_allocating_never_walks_the_tree_itself(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"data{number}").touch()
    count = usage.Usage(tmp_path, tmp_path, OSTS, GIB)
    assert (count.available(), count.is_counting, count.files) == (EVEN, True, 0)
    slices = 0
    while count.is_counting:
        count.work(1e-9)
        slices += 1
    # One file at most in so short a slice; the rest waits for the next.
    assert slices >= 50
    assert count.files >= 51
    assert count.available() == EVEN
    assert not count.is_counting


def test_identifiers_survive_a_crash_without_coming_twice(tmp_path: Path) -> None:
    given_out = set()
    for _ in range(3):
        state = MdsState(tmp_path, OSTS)
        given_out |= {state.new_object(ost) for ost in OSTS for _ in range(10)}
        given_out |= {state.new_file() for _ in range(5000)}
    assert len(given_out) == 3 * (40 + 5000)


def test_pools_are_remembered_and_guarded(tmp_path: Path) -> None:
    service = Service(site(tmp_path))

    def pool(action: str, name: str, osts: list[int] | None = None) -> int:
        try:
            service.answer({"op": "pool", "action": action, "pool": name, "osts": osts}, None)
        except OSError as refused:
            return refused.errno or 0
        return 0

    assert pool("new", "fast") == 0
    assert pool("new", "fast") == errno.EEXIST
    assert pool("new", "a" * 16) == errno.ENAMETOOLONG
    assert pool("add", "fast", [1, 0]) == 0
    assert pool("add", "fast", [9]) == errno.ENOENT
    assert pool("destroy", "fast") == errno.ENOTEMPTY
    assert Service(site(tmp_path)).answer({"op": "info"}, None)["pools"] == {"fast": [0, 1]}
    assert pool("remove", "fast", [0, 1]) == 0
    assert pool("destroy", "fast") == 0
    assert pool("destroy", "fast") == errno.ENOENT


@pytest.mark.parametrize(
    ("request_", "code"),
    [({"op": "nonsense"}, errno.EOPNOTSUPP), ({}, errno.EOPNOTSUPP), ({"op": "get"}, errno.EBADF)],
)
def test_requests_without_sense_are_refused(
    tmp_path: Path, request_: dict[str, str], code: int
) -> None:
    with pytest.raises(OSError, match=rf"Errno {code}\]"):
        Service(site(tmp_path)).answer(request_, None)
