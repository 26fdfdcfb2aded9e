"""Every text in a picture of the documents can be read, in light and in dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_tests.contrast import contrasts, ratio
from vas_tests.pages import DOCS

LEAST = 4.5
PICTURES = sorted(DOCS.rglob("*.svg"))
# A flame graph: all of it is made by one program, and is light only.
LIGHT_ONLY = {"sort-profile.svg"}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_texts_stand_out(picture: Path) -> None:
    found = list(contrasts(picture))
    faint = [(each.text, round(each.ratio, 2), each.dark) for each in found if each.ratio < LEAST]
    assert faint == []
    assert {each.dark for each in found} == (
        {False} if picture.name in LIGHT_ONLY else {False, True}
    )


def test_no_picture_stands_twice() -> None:
    assert len({picture.read_bytes() for picture in PICTURES}) == len(PICTURES)


def test_the_ratio_is_wcags() -> None:
    assert ratio((0, 0, 0), (1, 1, 1)) == 21
    assert round(ratio((0x76 / 255,) * 3, (1, 1, 1)), 2) == 4.54


def test_faint_text_is_found(tmp_path: Path) -> None:
    picture = tmp_path / "p.svg"
    picture.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" font-size="10">'
        "<style>@media (prefers-color-scheme: dark){.bg{fill:#000000}.ink{fill:#ffffff}}</style>"
        '<rect width="100%" height="100%" class="bg" fill="#ffffff"/>'
        '<rect x="0" y="0" width="50" height="20" fill="#e69f00"/>'
        '<text x="5" y="15" fill="#fff">on it</text>'
        '<rect x="60" y="0" width="50" height="20" fill="#009e73" opacity="0.35"/>'
        '<text x="85" y="15" text-anchor="middle" fill="#fff">pale</text>'
        '<text x="5" y="40" class="ink" fill="#000000">beside it</text></svg>'
    )
    seen = {(each.text, each.dark): round(each.ratio, 1) for each in contrasts(picture)}
    assert seen == {
        ("on it", False): 2.3,
        ("pale", False): 1.5,
        ("beside it", False): 21,
        ("on it", True): 2.3,
        ("pale", True): 13.3,
        ("beside it", True): 21,
    }
