"""Man pages say what the help says; the site has every page, and no link of it is dead."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

from vas_core.cli import run_command, vas
from vas_core.errors import NotHere, VasError
from vas_core.manual.man import page, write_man_pages
from vas_core.manual.site import build_site, navigation, spaced
from vas_core.repository import REPOSITORY


@click.group()
def tool() -> None:
    """Do things."""


@tool.command()
@click.argument("file")
@click.option("--deep", is_flag=True, help="Also what is below.\\n")
def look(file: str, deep: bool) -> None:
    """Look at FILE, which is-hyphenated.

    .dots do not begin a request.

    \b
    Examples: tool look a
              ./vas look b
    """


def test_a_page_has_the_help_and_nothing_that_roff_takes_for_its_own() -> None:
    context = click.Context(look, info_name="look", parent=click.Context(tool, info_name="tool"))
    text = page(context, "1.2")
    assert text.startswith(
        '.TH "TOOL\\-LOOK" 1 "" "vas 1.2" "VAS"\n.SH NAME\ntool\\-look \\- Look at'
    )
    assert ".SH SYNOPSIS\n.B tool look\n[OPTIONS] FILE\n" in text
    assert "\n\\&.dots do not begin a request.\n" in text
    assert "Examples: tool look a\n          vas look b\n" in text
    assert ".TP\n.B \\-\\-deep\nAlso what is below.\\en\n" in text
    known = {".TH", ".SH", ".PP", ".TP", ".B", ".BR", ".nf", ".fi"}
    assert {line.split()[0] for line in text.splitlines() if line.startswith(".")} <= known


def test_a_group_has_a_page_for_each_command(tmp_path: Path) -> None:
    files = write_man_pages(tool, "tool", "1", tmp_path / "man1")
    assert [file.name for file in files] == ["tool-look.1", "tool.1"]
    assert ".TP\n.BR tool\\-look (1)\nLook at FILE" in files[1].read_text()


@pytest.mark.unhurried
def test_every_command_of_vas_has_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["docs", "--man", str(tmp_path)]) == 0
    names = {file.stem for file in tmp_path.iterdir()}
    assert {"vas", "vas-docs", "vas-route-plan", "vas-bench-run", "vas-cds-build"} <= names
    assert f"{len(names)} pages; begin with `man {tmp_path}/vas.1`" in capsys.readouterr().err
    group = vas.list_commands(click.Context(vas))
    assert {f"vas-{name}" for name in group} <= names


def test_the_navigation_is_the_index() -> None:
    index = (
        "# I\n[x](x.md)\n## Try it\n| [lab](lab.md) |\n## Develop\n[C](../C.md)\n[1](adr/1.md#a)\n"
    )
    assert navigation(index) == [
        {"The documents": "docs/README.md"},
        {"Try it": [{"lab": "docs/lab.md"}]},
        {"Develop": [{"C": "C.md"}, {"Decision 1": "docs/adr/1.md"}]},
    ]


def test_lists_and_tables_are_told_from_paragraphs() -> None:
    page = "# H\n- a\n  more\n- b\n\ntext:\n- a\n- b\ntext\n| a |\n|---|\n```\nx\n- y\n```\n"
    assert spaced(page) == page.replace("text:\n", "text:\n\n").replace("text\n|", "text\n\n|")


def test_outside_of_a_clone_there_is_nothing_to_build(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="no documents here"):
        build_site(tmp_path, tmp_path / "mkdocs", tmp_path / "build", tmp_path / "site")


class References(HTMLParser):
    """Collects the addresses that a page of the site refers to, and the page's anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = {"__top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if value and (name == "src" or (name == "href" and tag != "base")):
                self.targets.add(value)


def dead(site: Path) -> list[str]:
    pages = {file: References(file.read_text()) for file in site.rglob("*.html")}
    found = []
    for file, references in pages.items():
        if file.name == "404.html":
            continue
        for target in references.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchor = unquote(parts.fragment)
            there = other.exists() and (
                not anchor or other not in pages or anchor in pages[other].anchors
            )
            if not there:
                found.append(f"{file.relative_to(site)}: {target}")
    return found


@pytest.mark.machine
@pytest.mark.slow
def test_the_site_is_whole_and_asks_no_network(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("mkdocs")
    pages = build_site(REPOSITORY, program, tmp_path / "build", tmp_path / "site")
    assert dead(tmp_path / "site") == []
    names = {str(page.relative_to(tmp_path / "site")) for page in pages}
    ours = {file.relative_to(REPOSITORY) for file in (REPOSITORY / "docs").rglob("*.md")}
    made = {
        str(file.with_name(file.name.replace("README", "index")).with_suffix(".html"))
        for file in ours
    }
    assert made <= names
    loaded = re.compile(r'<(?:script|img|link)[^>]* (?:src|href)="(https?:)?//')
    assert [page for page in pages if loaded.search(page.read_text())] == []


@pytest.mark.machine
@pytest.mark.slow
def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# R\n[gone](docs/gone.md)\n")
    (tmp_path / "CONTRIBUTING.md").write_text("# C\n")
    (tmp_path / "docs/README.md").write_text("# D\n## Try it\n[C](../CONTRIBUTING.md)\n")
    program = Path(sys.executable).with_name("mkdocs")
    with pytest.raises(VasError, match=r"gone\.md"):
        build_site(tmp_path, program, tmp_path / "build", tmp_path / "site")
