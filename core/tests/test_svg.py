"""The SVG kit: texts fit, axes have round values, and the document is well formed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_core.errors import BadInput
from vas_core.svg import (
    LogScale,
    Svg,
    check_name,
    fitted,
    from_zero,
    number_text,
    round_up,
    text_width,
    write_picture,
)


@given(st.text(), st.floats(20, 500))
def test_a_text_is_cut_to_its_width(text: str, width: float) -> None:
    cut = fitted(text, width, 11)
    assert cut == text or (cut.endswith("…") and text_width(cut, 11) <= max(width, 2 * 11))


@given(st.floats(1e-6, 1e9), st.integers(2, 12))
def test_ticks_are_round_few_and_inside(highest: float, most: int) -> None:
    scale = from_zero(highest, 0, 100)
    ticks = scale.ticks(most)
    assert 1 <= len(ticks) <= most
    assert all(-1e-6 <= scale(tick) <= 100.001 for tick in ticks)
    assert scale(highest) <= 100


def test_equal_ratios_are_equal_distances() -> None:
    scale = LogScale(1, 1e4, 100, 500)
    assert [round(scale(value)) for value in (1, 10, 100, 1e4)] == [100, 200, 300, 500]
    assert scale.decades() == [1, 10, 100, 1000, 1e4]
    assert LogScale(0.5, 20, 0, 1).decades() == [1, 10]
    assert LogScale(2, 5, 0, 1).decades() == []


@pytest.mark.parametrize(
    ("value", "rounded"), [(0, 1), (-3, 1), (0.7, 1), (1, 1), (1.2, 2), (3, 5), (7, 10), (20, 20)]
)
def test_a_value_is_rounded_up(value: float, rounded: float) -> None:
    assert round_up(value) == pytest.approx(rounded)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1234.5, "1,234"), (0.5, "0.5"), (1e9, "1e+09"), (1e-5, "1e-05")]
)
def test_a_number_has_three_digits(value: float, text: str) -> None:
    assert number_text(value) == text


def test_names_are_escaped_and_colours_follow_the_theme() -> None:
    svg = Svg(100, theme={"bg": ("fill", "#fff", "#000"), "hot": ("fill", "#f00", "#800")})
    with svg.group("<a>", data_key='"x"'):
        svg.dot(5, 5, 2, "hot")
        svg.rect(0, 0, 3, 3, "#123456")
        svg.text(1, 9, "<&\x1b>", kind="hot")
    text = svg.document("<t>", description="two & three")
    root = ElementTree.fromstring(text)
    assert root.find("{http://www.w3.org/2000/svg}desc") is not None
    assert ".hot{fill:#800}" in text
    assert 'class="hot" fill="#f00"' in text
    assert "style" not in svg.document("t", dark=False)


def test_a_picture_is_what_its_name_says(tmp_path: Path) -> None:
    svg = Svg(10)
    svg.height = 10
    for name, starts in (("p.svg", b"<svg"), ("p.png", b"\x89PNG"), ("p.html", b"<!DOCTYPE")):
        write_picture(svg, tmp_path / name, "x")
        assert (tmp_path / name).read_bytes().startswith(starts)
    with pytest.raises(BadInput, match="is not a name of a picture"):
        check_name(tmp_path / "p.gif")
