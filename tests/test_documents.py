"""The documents: the README is short, the index is complete, and no link is dead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_tests.pages import DOCS, anchors, dead_links, links, pages, table

README_WORDS = 900
README_ROWS = 8
LINE_CHARS = 120


def linked_from(index: Path) -> set[Path]:
    return {(index.parent / target.partition("#")[0]).resolve() for target in links(index)}


ROOMS = sorted({file.parts[-3] for file in REPOSITORY.glob("*/vas_*/__init__.py")})
ROOM_READMES = [REPOSITORY / room / "README.md" for room in (*ROOMS, "shuffled", "yarn-plugins")]
ROOM_README_LINES = 15


@pytest.mark.parametrize(
    "page", [*pages(), *ROOM_READMES], ids=lambda page: str(page.relative_to(REPOSITORY))
)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(dead_links(page)) == []


def test_a_dead_link_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vas_tests.pages.REPOSITORY", tmp_path)
    (tmp_path / "there.md").write_text("# Here it is: `x`\n## twice\n## twice\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[1](there.md#here-it-is-x) [2](there.md#twice-1) [3](there.md#thrice) [4](gone.md)"
        " [5](#none) [6](https://nowhere.example) `[7](code.md)`\n```\n[8](fence.md)\n```\n"
    )
    dead = ["there.md#thrice", "gone.md", "#none"]
    assert list(dead_links(page)) == [f"page.md: {target}" for target in dead]
    assert anchors(tmp_path / "there.md") == {"here-it-is-x", "twice", "twice-1"}


@pytest.mark.parametrize(
    "page", [*pages(), *ROOM_READMES], ids=lambda page: str(page.relative_to(REPOSITORY))
)
def test_lines_wrap_at_120(page: Path) -> None:
    """Tables and pictures are a line each, however long; a drawing is as wide as it is."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "![", "    "))]
    assert [line for line in lines if len(line) > LINE_CHARS] == []


def test_the_readme_leads_on_by_eight_rows() -> None:
    assert len(table(REPOSITORY / "README.md", "Where to go next")) == README_ROWS


def test_the_readme_is_read_in_three_minutes() -> None:
    assert len((REPOSITORY / "README.md").read_text().split()) <= README_WORDS


@pytest.mark.parametrize("readme", ROOM_READMES, ids=lambda readme: readme.parent.name)
def test_the_readme_of_a_room_is_short_and_names_files_that_are_there(readme: Path) -> None:
    text = readme.read_text()
    assert len(text.splitlines()) <= ROOM_README_LINES
    for named in re.findall(r"`([\w/.-]+\.(?:py|rs|c|h))`", text):
        here, elsewhere = readme.parent.rglob(named), REPOSITORY.glob(named)
        assert next(here, None) or next(elsewhere, None), named


def test_the_index_lists_every_page() -> None:
    index = DOCS / "README.md"
    wanted = {*DOCS.glob("*.md"), *DOCS.glob("adr/*.md"), DOCS / "evidence/README.md"} - {index}
    assert sorted(wanted - linked_from(index)) == []


def test_the_index_of_evidence_lists_every_page_of_it() -> None:
    index = DOCS / "evidence/README.md"
    assert sorted({*DOCS.glob("evidence/*.md")} - {index} - linked_from(index)) == []


def test_every_picture_is_on_a_page() -> None:
    shown = {picture for page in pages() for picture in linked_from(page)}
    assert sorted(set(DOCS.glob("**/*.svg")) - shown) == []


MECHANISMS = (
    *("routing", "provisioning", "placement", "shuffle", "filesystem", "layout"),
    *("affinity", "guests", "image", "lab", "bench", "submit", "alltoallv"),
    *("accept", "jbs", "warm"),
)
STORY_WORDS = 120
# A picture is on the first screen, or what follows the story: a drawing in letters will do.
PICTURE_BEFORE_LINE = 45


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_page_of_a_mechanism_begins_with_its_story(name: str) -> None:
    """Who does what, why, and what a user sees, before any table, list or command."""
    _, *lines = (DOCS / f"{name}.md").read_text().splitlines()
    other = ("#", "|", "`" * 3, "    ", "- ", "![")
    story = lines[: next(at for at, line in enumerate(lines) if line.startswith(other))]
    assert len(" ".join(story).split()) >= STORY_WORDS


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_page_of_a_mechanism_has_a_picture_near_its_beginning(name: str) -> None:
    lines = (DOCS / f"{name}.md").read_text().splitlines()[:PICTURE_BEFORE_LINE]
    drawn = "".join(lines).split("```")[1::2]
    assert any(line.startswith("![") for line in lines) or any(
        arrow in drawing for drawing in drawn for arrow in ("──", "-->", "round 1")
    )


def test_the_glossary_is_short() -> None:
    rows = (DOCS / "glossary.md").read_text().splitlines()
    assert len([row for row in rows if row.startswith("| ")]) <= 25 + 1
