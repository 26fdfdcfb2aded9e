"""The vectors both decoders are tested with, held against what a real `lfs` printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from layout_samples import TRANSCRIPTS, VECTORS, transcript

from vas_layout.as_json import layout_json
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutError

GOOD = sorted(VECTORS.glob("*.bin"))
BAD = sorted((VECTORS / "bad").glob("*.bin"))
# Bytes a decoder rightly drops: a released file's zeroed objects, the second composite magic.
NOT_REPEATABLE = {"hsm-released", "made-sel"}


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_vector_decodes_to_its_json(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    assert layout_json(decode(path.read_bytes())) == expected


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_vector_is_refused_in_one_line(path: Path) -> None:
    with pytest.raises(LayoutError) as refused:
        decode(path.read_bytes())
    assert f"{refused.value}\n" == path.with_suffix(".error").read_text()


def test_every_vector_has_its_answer_and_every_answer_its_vector() -> None:
    assert {p.stem for p in GOOD} == {p.stem for p in VECTORS.glob("*.json")}
    assert {p.stem for p in BAD} == {p.stem for p in (VECTORS / "bad").glob("*.error")}
    assert len(GOOD) > 60 and len(BAD) > 40


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_encoding_gives_the_captured_bytes_again(path: Path) -> None:
    again = encode(decode(path.read_bytes()))
    assert (again == path.read_bytes()) == (path.stem not in NOT_REPEATABLE)


def _pairs() -> list[tuple[str, Path]]:
    found = []
    for text in sorted((TRANSCRIPTS / "lfs-2.17").glob("*-y.txt")):
        name = text.stem.removesuffix("-y")
        stem = name.removeprefix("get-") if name.startswith("get-") else name.replace("get", "", 1)
        if (VECTORS / f"{stem}.bin").exists() and stem != "foreign":
            found.append((stem, text))
    return found


@pytest.mark.parametrize(("stem", "text"), _pairs(), ids=lambda value: Path(value).name)
def test_vector_says_what_lfs_printed(stem: str, text: Path) -> None:
    printed = yaml.safe_load(transcript(text).replace("\t", " "))
    expected = json.loads((VECTORS / f"{stem}.json").read_text())
    assert expected == _like_vector(printed, expected)


def test_enough_transcripts_are_compared() -> None:
    assert len(_pairs()) >= 40


def _like_vector(printed: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What `lfs` printed, in the vector's shape; only what it does not print is taken over."""
    if "components" not in printed:
        return _plain(printed, expected)
    assert printed["lcm_entry_count"] == len(printed["components"])
    return {
        "type": "composite",
        "layout_gen": printed["lcm_layout_gen"],
        "flags": expected["flags"],
        "mirror_count": printed["lcm_mirror_count"],
        "components": [
            _component(part, known)
            for part, known in zip(printed["components"], expected["components"], strict=True)
        ],
    }


def _component(part: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    end = part["lcme_extent.e_end"]
    return {
        "id": 0 if part["lcme_id"] == "N/A" else part["lcme_id"],
        "mirror_id": 0 if part["lcme_mirror_id"] == "N/A" else part["lcme_mirror_id"],
        "flags": str(part["lcme_flags"]).split(",") if part["lcme_flags"] else [],
        "extent_start": part["lcme_extent.e_start"],
        "extent_end": None if end == "EOF" else end,
        "layout": _plain(part["sub_layout"], known["layout"]),
    }


def _plain(printed: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    told = {key.removeprefix("lmm_"): value for key, value in printed.items()}
    patterns = told["pattern"].replace("overstriped", "overstriping").split(",")

    def inherits(key: str, default: int) -> bool:
        return "lmm_stripe_size" not in printed and known[key] == 0 and told[key] == default

    objects = [{"ost_idx": o["l_ost_idx"], "fid": o["l_fid"]} for o in told.get("objects", [])]
    return {
        "type": "plain",
        "magic": "v3" if "pool" in told else "v1",
        "pattern": patterns,
        # Of a default, 0 means inherit; lfs prints what the file system's own default is.
        "stripe_size": 0 if inherits("stripe_size", 4 << 20) else told["stripe_size"],
        "stripe_count": 0 if inherits("stripe_count", 1) else told["stripe_count"],
        # Without objects getxattr hides the start, which lfs gets by an ioctl (dir-i1).
        "stripe_offset": told["stripe_offset"] if objects else known["stripe_offset"],
        "layout_gen": told.get("layout_gen", 0),
        "pool": told.get("pool"),
        "objects": objects,
    }
