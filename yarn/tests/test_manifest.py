"""The manifest reader against the bytes that the Java reader is tested with."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_yarn.shuffle.job import ShuffleAttempt
from vas_yarn.shuffle.manifest import (
    CHECKSUM_BYTES,
    ManifestFile,
    ManifestSegment,
    OutputManifest,
    _problems,
    decode,
    decode_version1,
)
from vas_yarn.shuffle.verify import verify
from vas_yarn.shuffle.version2 import PREFIX_BYTES, RECORD_BYTES
from vas_yarn.shuffle.wire import Damaged, Reader

VECTORS = Path(__file__).parents[2] / "yarn-plugins/shuffle/vectors"
GOOD = sorted(VECTORS.glob("v[12]/*.bin"))
BAD = sorted(VECTORS.glob("v2/bad/*.bin"))
BAD_VERSION_1 = sorted(VECTORS.glob("v1/bad/*.bin"))


def name_of(file: Path) -> str:
    return f"{file.parent.name}-{file.stem}"


def as_json(manifest: OutputManifest) -> object:
    return json.loads(json.dumps(asdict(manifest)))


def test_there_are_vectors() -> None:
    assert len(GOOD) >= 10
    assert len(BAD) >= 30
    assert len(BAD_VERSION_1) >= 10


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_good_bytes_mean_the_json_beside_them(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text())
    assert as_json(decode(file.read_bytes())) == expected


def test_more_partitions_than_an_index_is_made_for_are_refused() -> None:
    good = next(file for file in GOOD if file.parent.name == "v1")
    manifest = decode(good.read_bytes())
    many = replace(manifest, partitions=(1 << 20) + 1)
    assert list(_problems(many)) == ["more than 1048576 partitions"]


@pytest.mark.parametrize("file", BAD, ids=lambda f: f.stem)
def test_bad_bytes_are_refused_with_the_line_beside_them(file: Path) -> None:
    with pytest.raises(Damaged) as refused:
        decode(file.read_bytes())
    assert str(refused.value) == file.with_suffix(".error").read_text().rstrip("\n")


@pytest.mark.parametrize("file", BAD_VERSION_1, ids=lambda f: f.stem)
def test_P1_bad_bytes_of_version_1_are_refused_as_ever(file: Path) -> None:
    with pytest.raises(Damaged) as refused:
        decode_version1(file.read_bytes())
    assert str(refused.value) == file.with_suffix(".error").read_text().rstrip("\n")
    with pytest.raises(Damaged):
        decode(file.read_bytes())


@pytest.mark.parametrize("file", sorted(VECTORS.glob("v1/*.bin")), ids=lambda f: f.stem)
def test_P1_version_1_means_what_version_2_does(file: Path) -> None:
    other = VECTORS / "v2" / file.name
    assert decode(file.read_bytes()) == decode(other.read_bytes())
    with pytest.raises(Damaged, match=r"^version 2, known is 1$"):
        decode_version1(other.read_bytes())


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_P1_any_changed_byte_is_found_by_a_reader_of_the_whole(file: Path) -> None:
    data = file.read_bytes()
    for at in range(len(data)):
        with pytest.raises(Damaged):
            decode(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])


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


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 1 << 20),
        st.integers(0, 40),
        st.one_of(
            st.binary(max_size=12),
            st.sampled_from(
                [b"\x8c\x7f\xff\xff\xff", b"\x88\x7f" + b"\xff" * 7, b"\xff", b"\x80\x01\x02\x03"]
            ),
        ),
    ),
    min_size=1,
    max_size=4,
)
"""Where, how many bytes go, and what comes for them: also numbers that are far too large."""


def mutated(data: bytes, mutations: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, by in mutations:
        at = place % (len(data) + 1)
        data = data[:at] + by + data[at + length :]
    return data


def sealed(body: bytes) -> bytes:
    """Append the last checksum."""
    return body + int(google_crc32c.value(body)).to_bytes(4, "big")


def sealed_throughout(body: bytes) -> bytes:
    """Give every index record and block of version 2 that can be found a right checksum."""
    data = bytearray(body)
    first = int.from_bytes(data[24:32], "big")
    count = (first - PREFIX_BYTES) // RECORD_BYTES if 8 <= first <= len(data) else 0
    for at in range(PREFIX_BYTES, PREFIX_BYTES + count * RECORD_BYTES, RECORD_BYTES):
        offset, length = struct.unpack(">qi", data[at + 16 : at + 28])
        if offset >= 0 and length >= 4 and offset + length <= len(data):
            data[offset : offset + length] = sealed(bytes(data[offset : offset + length - 4]))
    for at in range(PREFIX_BYTES, PREFIX_BYTES + count * RECORD_BYTES, RECORD_BYTES):
        data[at : at + RECORD_BYTES] = sealed(bytes(data[at : at + RECORD_BYTES - 4]))
    return sealed(bytes(data))


@pytest.mark.unhurried
@settings(max_examples=1000)
@given(st.sampled_from(GOOD), MUTATIONS, st.sampled_from([sealed, sealed_throughout]))
def test_any_sealed_nonsense_is_a_manifest_or_one_clear_error(
    file: Path, mutations: list[tuple[int, int, bytes]], seal: Callable[[bytes], bytes]
) -> None:
    body = mutated(file.read_bytes()[:-4], mutations)
    try:
        manifest = decode(seal(body))
    except Damaged as refused:
        assert len(str(refused)) < 5000
    else:
        assert sum(len(segment.checksums) for segment in manifest.segments) * 4 <= len(body)


def published(data: bytes, cuts: list[int]) -> OutputManifest:
    """A manifest of these bytes, in segments that end at these offsets."""
    ends = sorted({cut % len(data) for cut in cuts} - {0} | {len(data)})
    segments = tuple(
        ManifestSegment(
            number, 0, 0, start, end - start, end - start, 1, checksums(data[start:end])
        )
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
    )
    files = (ManifestFile("packed.mof", len(data)),)
    return OutputManifest("attempt", "vm", False, False, len(segments), 1, files, segments)


def checksums(data: bytes) -> tuple[int, ...]:
    return tuple(
        google_crc32c.value(data[at : at + CHECKSUM_BYTES])
        for at in range(0, len(data), CHECKSUM_BYTES)
    )


@pytest.mark.unhurried
@settings(max_examples=100, deadline=None)
@given(
    st.binary(min_size=1, max_size=500),
    st.integers(1, 400),
    st.lists(st.integers(0, 1 << 20), max_size=5),
    MUTATIONS,
)
def test_verify_finds_any_change_of_a_mof(
    seed: bytes, times: int, cuts: list[int], mutations: list[tuple[int, int, bytes]]
) -> None:
    data = seed * times
    manifest = published(data, cuts)
    with TemporaryDirectory() as directory:
        attempt = ShuffleAttempt(Path(directory), manifest)
        mof = Path(directory, "packed.mof")
        mof.write_bytes(data)
        assert list(verify(attempt)) == []
        changed = mutated(data, mutations)
        mof.write_bytes(changed)
        assert bool(list(verify(attempt))) == (changed != data)
