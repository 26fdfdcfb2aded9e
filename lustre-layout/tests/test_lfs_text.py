"""What two versions of `lfs` printed, read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from layout_samples import TRANSCRIPTS, VECTORS, transcript

from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutError
from vas_layout.lfs_text import parse_getstripe_yaml
from vas_layout.model import (
    EXTENSION,
    INIT,
    Component,
    Composite,
    Fid,
    Foreign,
    Layout,
    Magic,
    Plain,
    StripeObject,
)
from vas_layout.table import layout_rows

NEW = sorted((TRANSCRIPTS / "lfs-2.17").glob("get-*-y.txt"))
OLD = TRANSCRIPTS / "lfs-2.15"


def _told(layout: Layout) -> Layout:
    """The layout without what `lfs getstripe -y` does not print."""
    return replace(layout, flags=0) if isinstance(layout, Composite) else layout


@pytest.mark.parametrize("path", NEW, ids=lambda path: path.stem)
def test_text_of_2_17_and_bytes_say_the_same(path: Path) -> None:
    stem = path.stem.removeprefix("get-").removesuffix("-y")
    known = decode((VECTORS / f"{stem}.bin").read_bytes())
    assert parse_getstripe_yaml(transcript(path)) == _told(known)


@pytest.mark.parametrize("path", sorted(OLD.glob("*-y.txt")), ids=lambda path: path.stem)
def test_every_text_of_2_15_is_read(path: Path) -> None:
    assert parse_getstripe_yaml(transcript(path))


def test_components_of_2_15() -> None:
    found = parse_getstripe_yaml(transcript(OLD / "get-flr-y.txt"))
    assert isinstance(found, Composite)
    assert (found.mirror_count, len(found.components)) == (2, 2)
    first = found.components[0]
    objects = (
        StripeObject(0, Fid(0x280000400, 0x18)),
        StripeObject(1, Fid(0x2C0000400, 0x17)),
    )
    layout = Plain(Magic.V1, 1, 4194304, 2, 0, objects=objects)
    assert first == Component(65537, INIT, 0, None, layout)


def test_data_on_mdt_names_no_ost() -> None:
    """2.15 prints `lmm_stripe_offset: 0` for it."""
    found = parse_getstripe_yaml(transcript(OLD / "get-dom-y.txt"))
    assert isinstance(found, Composite)
    layout = found.components[0].layout
    assert isinstance(layout, Plain)
    assert (layout.pattern, layout.stripe_offset, layout.objects) == (0x100, None, ())


def test_defaults_of_directories() -> None:
    found = parse_getstripe_yaml(transcript(TRANSCRIPTS / "lfs-2.17/dirget-i1-y.txt"))
    assert isinstance(found, Plain)
    # The attribute hides the start of a default; lfs does not.
    assert (found.stripe_offset, found.objects) == (1, ())


def test_a_released_file_names_no_ost() -> None:
    text = "lmm_stripe_count:  2\nlmm_stripe_size:   1048576\nlmm_pattern:       raid0,released\n"
    found = parse_getstripe_yaml(text + "lmm_layout_gen:    1\nlmm_stripe_offset: 0\n")
    assert found == Plain(Magic.V1, 0x80000001, 1048576, 2, None, layout_gen=1)


def test_a_pool_called_no_is_a_name() -> None:
    text = transcript(TRANSCRIPTS / "lfs-2.17/get-pool-y.txt").replace("fast", "no")
    found = parse_getstripe_yaml(text)
    assert isinstance(found, Plain)
    assert found.pool == "no"


def test_hexadecimal_indices() -> None:
    text = transcript(TRANSCRIPTS / "lfs-2.17/get-c1-y.txt").replace("idx: 1", "idx: 0x1f")
    found = parse_getstripe_yaml(text)
    assert isinstance(found, Plain)
    assert [o.ost_idx for o in found.objects] == [31]


def test_foreign_values_are_not_yaml() -> None:
    text = "lfm_value:     'it's: a\nvalue'\n\n"
    assert parse_getstripe_yaml(text) == Foreign(0, 0, b"it's: a\nvalue")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("raid0", "raid9"), "lfs printed the pattern 'raid9'"),
        (("lmm_stripe_size:", "nothing:"), "lfs printed no stripe_size"),
        (("_count:  2", "_count:  3"), "lfs printed 2 objects for a stripe count of 3"),
        (("_count:  2", "_count:  9999"), "lfs printed the stripe count 9999"),
        (("0x280000400:", ""), "lfs printed the FID"),
    ],
)
def test_text_that_makes_no_sense_is_refused(change: tuple[str, str], reason: str) -> None:
    text = transcript(TRANSCRIPTS / "lfs-2.17/get-pool-c2-y.txt").replace(*change)
    with pytest.raises(LayoutError, match=reason):
        parse_getstripe_yaml(text)


_SEL = """
lcm_layout_gen:    2
lcm_mirror_count:  1
lcm_entry_count:   2
components:
  - lcme_id:             1
    lcme_mirror_id:      0
    lcme_flags:          init
    lcme_extent.e_start: 0
    lcme_extent.e_end:   67108864
    sub_layout:
      lmm_stripe_count:  1
      lmm_stripe_size:   1048576
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: 0
      lmm_objects:
      - l_ost_idx: 0
        l_fid:     0x280000400:0x5:0x0
  - lcme_id:             2
    lcme_mirror_id:      0
    lcme_flags:          extension
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   1073741824
    sub_layout:
      lmm_stripe_count:  0
      lmm_extension_size: 67108864
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: -1
"""


def test_R6_an_extension_component_has_its_size_under_another_name() -> None:
    """`lfs` prints it in bytes, the attribute has it in KiB: one layout, one table."""
    layout = parse_getstripe_yaml(_SEL)
    assert isinstance(layout, Composite)
    extension = layout.components[1]
    assert extension.flags == EXTENSION
    assert isinstance(extension.layout, Plain)
    assert extension.layout.stripe_size == 65536
    assert decode(encode(layout)) == layout
    sizes = [row[3] for row in layout_rows("f", layout)]
    assert sizes == ["1 MiB", "64 MiB"]
