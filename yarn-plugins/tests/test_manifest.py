"""The manifest reader against the bytes that the Java reader is tested with."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_yarn.shuffle.manifest import Manifest, decode
from vas_yarn.shuffle.wire import Damaged, Reader

VECTORS = Path(__file__).parents[1] / "shuffle" / "vectors"
GOOD = sorted(VECTORS.glob("*.bin"))
BAD = sorted((VECTORS / "bad").glob("*.bin"))


def as_json(manifest: Manifest) -> object:
    return json.loads(json.dumps(asdict(manifest)))


def test_there_are_vectors() -> None:
    assert len(GOOD) >= 5
    assert len(BAD) >= 10


@pytest.mark.parametrize("file", GOOD, ids=lambda f: f.stem)
def test_good_bytes_mean_the_json_beside_them(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text())
    assert as_json(decode(file.read_bytes())) == expected


@pytest.mark.parametrize("file", BAD, ids=lambda f: f.stem)
def test_bad_bytes_are_refused_with_the_line_beside_them(file: Path) -> None:
    with pytest.raises(Damaged) as refused:
        decode(file.read_bytes())
    assert str(refused.value) == file.with_suffix(".error").read_text().rstrip("\n")


@given(st.sampled_from(GOOD), st.data())
def test_nonsense_behind_a_right_checksum_is_one_clear_error(
    file: Path, data: st.DataObject
) -> None:
    body = bytearray(file.read_bytes()[:-4])
    at = data.draw(st.integers(0, len(body) - 1))
    body[at] ^= data.draw(st.integers(1, 255))
    cut = bytes(body[: data.draw(st.integers(0, len(body)))])
    try:
        decode(cut + google_crc32c.value(cut).to_bytes(4, "big"))
    except Damaged as refused:
        assert len(str(refused)) < 300


@given(st.binary(max_size=200))
def test_any_bytes_without_their_checksum_are_refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        decode(data + b"\0" * 4 if google_crc32c.value(data) else data)


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b"\x05", 5),
        (b"\x90", -112),
        (b"\x8f\x80", 128),
        (b"\x87\x80", -129),
        (b"\x8e\x01\x00", 256),
        (b"\x88\x7f" + b"\xff" * 7, (1 << 63) - 1),
        (b"\x80\x7f" + b"\xff" * 7, -(1 << 63)),
    ],
)
def test_vlong_is_hadoops(data: bytes, number: int) -> None:
    assert Reader(data, len(data)).vlong() == number
