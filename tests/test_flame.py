"""The flame graph of the samples that were taken while a JVM started."""

from __future__ import annotations

import re

import pytest

from vas_core.svg.drawing import Svg
from vas_tests.flame import flame_graph


def boxes(svg: Svg) -> list[tuple[str, float, float, float]]:
    """Name, samples, left edge and width of each box."""
    found = re.findall(
        r'<title>(.*)\n(\d+) samples</title>\n<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"',
        svg.document("samples"),
    )
    return [(name, int(count), float(x), float(width)) for name, count, x, width in found]


def test_a_box_is_as_wide_as_the_samples_that_share_it() -> None:
    stacks = [["a.B.main", "a.C.read"], ["a.B.main", "a.C.write"], ["a.B.main", "a.C.write"]]
    drawn = {name: (count, width) for name, count, _, width in boxes(flame_graph({"A": stacks}))}
    assert {name: count for name, (count, _) in drawn.items()} == {
        "a.B.main": 3,
        "a.C.write": 2,
        "a.C.read": 1,
    }
    whole = drawn["a.B.main"][1] + 0.5
    assert drawn["a.C.write"][1] + 0.5 == pytest.approx(whole * 2 / 3, rel=1e-3)


def test_the_same_frame_on_other_frames_is_another_box() -> None:
    stacks = [["a.B.x", "a.D.z"], ["a.C.y", "a.D.z"]]
    drawn = [each for each in boxes(flame_graph({"A": stacks})) if each[0] == "a.D.z"]
    assert [count for _, count, _, _ in drawn] == [1, 1]
    assert drawn[0][2] != drawn[1][2]


def test_a_deep_stack_is_cut_and_a_name_is_escaped() -> None:
    svg = flame_graph({"A": [["a.B.<init>"] * 100]})
    assert "a.B.&lt;init&gt;" in svg.document("samples")
    assert svg.height < 600


def test_no_samples_are_an_empty_graph() -> None:
    assert "A: 0 samples" in flame_graph({"A": []}).document("samples")
