"""The codec against anything at all."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from layout_samples import VECTORS, layouts, vector

from vas_layout import requests
from vas_layout.as_json import layout_json
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutError
from vas_layout.model import (
    INIT,
    MAX_STRIPES,
    RAID0,
    Component,
    Composite,
    Fid,
    Layout,
    Magic,
    Plain,
    StripeObject,
)

CAPTURED = sorted(path.read_bytes() for path in VECTORS.glob("*.bin"))
MAGICS = [bytes([0xD0, 0x0B, n, 0x0B]) for n in (0xD1, 0xD3, 0xD5, 0xD6, 0xD7, 0xD8)]


def _decodes_or_refuses(data: bytes) -> None:
    try:
        layout = decode(data)
    except LayoutError as refused:
        assert "\n" not in str(refused)
        return
    layout_json(layout)
    assert decode(encode(layout)) == layout


@given(st.binary(max_size=400))
def test_random_bytes_never_crash(data: bytes) -> None:
    _decodes_or_refuses(data)


@given(st.sampled_from(MAGICS), st.binary(max_size=400))
def test_random_bytes_after_a_magic_never_crash(magic: bytes, data: bytes) -> None:
    _decodes_or_refuses(magic + data)


@pytest.mark.unhurried
@settings(max_examples=600)
@given(st.sampled_from(CAPTURED), st.data())
def test_mutated_vectors_never_crash(captured: bytes, data: st.DataObject) -> None:
    mutated = bytearray(captured)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(mutated) - 1))
        mutated[position] = data.draw(
            st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
        )
    cut = data.draw(st.integers(0, len(mutated)))
    _decodes_or_refuses(bytes(mutated[:cut]) if data.draw(st.booleans()) else bytes(mutated))


@pytest.mark.unhurried
@given(layouts)
def test_what_is_encoded_decodes_to_itself(layout: Layout) -> None:
    assert decode(encode(layout)) == layout


@given(
    st.integers(0, 0xFFFF).map(lambda n: n * 65536),
    st.integers(-1, MAX_STRIPES),
    st.none() | st.integers(0, 0xFFFE),
    st.none() | st.just("fast.pool-1_x"),
)
@example(0, 0, None, None)
def test_requests_round_trip(size: int, count: int, start: int | None, pool: str | None) -> None:
    request = requests.stripes(size, count, start=start, pool=pool)
    assert decode(encode(request)) == request
    assert not request.placed


def test_a_nonsense_count_allocates_nothing() -> None:
    lies = bytearray(vector("pfl-written"))
    lies[14:16] = b"\xff\xff"
    tracemalloc.start()
    with pytest.raises(LayoutError):
        decode(bytes(lies))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_components_may_not_share_bytes() -> None:
    """1000 components pointing to one set of objects would be a bomb."""
    one = Plain(Magic.V1, RAID0, 65536, 1, 0, objects=(StripeObject(0, Fid(1, 1)),))
    data = bytearray(encode(Composite(1, 0, 1, (Component(1, INIT, 0, None, one),) * 2)))
    data[80 + 24 : 80 + 28] = data[32 + 24 : 32 + 28]
    with pytest.raises(LayoutError, match="component 2: starts at byte 128, before 184"):
        decode(bytes(data))


@pytest.mark.unhurried
def test_the_widest_file_fits() -> None:
    wide = Plain(
        Magic.V1,
        RAID0,
        65536,
        MAX_STRIPES,
        0,
        objects=tuple(StripeObject(n, Fid(0x280000400, n)) for n in range(MAX_STRIPES)),
    )
    assert decode(encode(wide)) == wide


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((65537, 1), "stripe size 65537 is not a multiple of 64 KiB below 4 GiB"),
        ((1 << 32, 1), "is not a multiple of 64 KiB below 4 GiB"),
        ((-65536, 1), "is not a multiple of 64 KiB below 4 GiB"),
        ((65536, 2001), "stripe count 2001 is not between -1 and 2000"),
        ((65536, -2), "stripe count -2 is not between -1 and 2000"),
    ],
)
def test_requests_lustre_would_refuse_are_refused(arguments: tuple[int, int], reason: str) -> None:
    with pytest.raises(LayoutError, match=reason):
        requests.stripes(*arguments)


def test_requests_lustre_would_change_silently_are_refused() -> None:
    with pytest.raises(LayoutError, match="stripe count 3 for a list of 2 OSTs"):
        requests.stripes(65536, 3, osts=[0, 1])
    with pytest.raises(LayoutError, match="pool name"):
        requests.stripes(65536, 1, pool="sixteen-letters-")
    with pytest.raises(LayoutError, match="start 1 is not the first"):
        requests.stripes(65536, 2, osts=[0, 1], start=1)
    with pytest.raises(LayoutError, match="only the last"):
        requests.progressive([(None, requests.stripes(0, 1)), (None, requests.stripes(0, 1))])
    with pytest.raises(LayoutError, match="not a multiple of 64 KiB above 0"):
        requests.progressive([(100, requests.stripes(0, 1))])
