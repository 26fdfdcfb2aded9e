"""The report in a real browser: no width, medium or colour scheme in which it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import made_up_results, made_up_scaling

from vas_bench.report.facts import facts_of
from vas_bench.report.page import html, page_of
from vas_tests.browser import Browser, browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

# What is not seen takes no room. Boxes that only touch do not overlap: a pixel is allowed.
_LABELS_ON_LABELS = """
[...document.querySelectorAll("svg")].flatMap(svg => {
  const boxes = [...svg.querySelectorAll("text")]
    .map(t => [t.textContent, t.getBoundingClientRect()])
    .filter(([, b]) => b.width > 0);
  return boxes.flatMap(([one, a], n) => boxes.slice(n + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([other]) => one + " / " + other));
})
"""
_LABELS_OUTSIDE = """
[...document.querySelectorAll("svg text")].filter(t => {
  const box = t.getBoundingClientRect();
  return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1);
}).map(t => t.textContent)
"""
_CHARTS_SEEN = '[...document.querySelectorAll("svg")].filter(s => s.clientWidth > 0).length'
_SMALLEST_LETTERS_PX = """
Math.min(...[...document.querySelectorAll("svg text")]
  .filter(t => t.getBoundingClientRect().width > 0)
  .map(t => 13 * t.ownerSVGElement.getScreenCTM().a))
"""
# Contrast by WCAG 2.2, of every kind of text against what is behind it.
_LEAST_CONTRAST = """
(() => {
  const rgb = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return light(rgb(colour));
    }
    return 1;
  };
  const inked = [...document.querySelectorAll("p, li, td, th, figcaption, summary, h1, h2, h3")]
    .map(e => [getComputedStyle(e).color, e]);
  const drawn = [...document.querySelectorAll("svg text")]
    .map(e => [getComputedStyle(e).fill, e.ownerSVGElement.parentElement]);
  return Math.min(...[...inked, ...drawn].map(([c, e]) => ratio(light(rgb(c)), behind(e))));
})()
"""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of made-up runs, open."""
    page = page_of(facts_of([*made_up_results(), *made_up_scaling()]), "Made-up runs")
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html(page), encoding="utf-8")
    with browser() as opened:
        opened.open(file)
        yield opened


VIEWS: dict[str, dict[str, Any]] = {
    "phone": {"width": 360},
    "small phone": {"width": 320},
    "between": {"width": 640},
    "tablet": {"width": 800},
    "desk": {"width": 1400},
    "phone, dark": {"width": 360, "dark": True},
    "desk, dark": {"width": 1400, "dark": True},
    "print": {"width": 718, "media": "print"},
    "print, dark": {"width": 718, "media": "print", "dark": True},
}


@pytest.mark.parametrize("view", VIEWS)
def test_everything_can_be_read(window: Browser, view: str) -> None:
    window.show(**VIEWS[view])
    assert window.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert window.evaluate(_CHARTS_SEEN) == window.evaluate(
        'document.querySelectorAll("figure").length'
    )
    assert window.evaluate(_LABELS_ON_LABELS) == []
    assert window.evaluate(_LABELS_OUTSIDE) == []
    assert window.evaluate(_SMALLEST_LETTERS_PX) >= 10
    assert window.evaluate(_LEAST_CONTRAST) >= 4.5


def test_a_table_opens_on_a_phone_without_moving_the_page(window: Browser) -> None:
    window.show(360)
    window.evaluate('document.querySelectorAll("details").forEach(d => d.open = true)')
    assert window.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    window.evaluate('document.querySelectorAll("details").forEach(d => d.open = false)')


def test_dark_is_dark_and_print_is_light(window: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    window.show(800, dark=True)
    assert window.evaluate(paper) == "rgb(18, 22, 27)"
    window.show(718, media="print", dark=True)
    assert window.evaluate(paper) == "rgb(255, 255, 255)"


def test_it_prints(window: Browser) -> None:
    window.show(1400)
    printed = window.printed()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_a_label_on_a_label_would_be_seen(window: Browser) -> None:
    window.show(800)
    window.evaluate(
        'document.querySelectorAll("svg.wide")[0].innerHTML +='
        ' \'<text x="9" y="40">one</text><text x="12" y="42">two</text>\''
    )
    assert "one / two" in window.evaluate(_LABELS_ON_LABELS)


def test_the_browser_writes_nothing_to_the_testers_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with browser() as chromium:
        assert chromium.evaluate("1 + 1") == 2
    assert list(tmp_path.iterdir()) == []
