"""The pages of the repository as a site that needs no network, neither to build nor to read.

The pages are copied as they lie in the repository, with every file that they lead to, so that each
link holds without being rewritten. The navigation is the index, docs/README.md.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from vas_core.errors import NotHere, VasError
from vas_core.process import run

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(?:#[^)]*)?\)")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
# The first line of a list or of a table.
_ITEM = re.compile(r"(?:[-*]|\d+\.) |\|")
_INDEX = "docs/README.md"


def build_site(repository: Path, program: Path, build: Path, site: Path) -> list[Path]:
    """Builds the site in the directory `site` from the pages of a clone; returns its HTML files.

    `program` is mkdocs, `build` a directory for temporary files. Raises NotHere outside of a clone
    or without mkdocs, VasError if mkdocs fails, which it does for a dead link.
    """
    if not (repository / _INDEX).exists():
        raise NotHere("no documents here", where=str(repository), hint="run ./vas docs in a clone")
    if not program.exists():
        hint = "run ./vas docs in a clone, which installs it"
        raise NotHere("mkdocs is not installed", where=str(program), hint=hint)
    source = build / "docs-source"
    shutil.rmtree(source, ignore_errors=True)
    for file in sorted(files_of_pages(repository)):
        target = source / file.relative_to(repository)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            target.write_text(spaced(file.read_text()))
        else:
            shutil.copyfile(file, target)
    settings = build / "mkdocs.yml"
    settings.write_text(yaml.safe_dump(_settings(repository, source, site), sort_keys=False))
    done = run((str(program), "build", "--strict", "-f", str(settings)), check=False)
    if done.status != 0:
        raise VasError(f"mkdocs failed:\n{(done.stderr or done.stdout).strip()}", where=_INDEX)
    return sorted(site.rglob("*.html"))


def navigation(index: str) -> list[dict[str, Any]]:
    """Returns mkdocs' `nav` from the sections of the index and the pages that they name."""
    _, *parts = _SECTION.split(index)
    sections = zip(parts[::2], parts[1::2], strict=True)
    return [{"The documents": _INDEX}, *({name: list(_pages(text))} for name, text in sections)]


def spaced(page: str) -> str:
    """Returns a page with a blank line before each list and table that follows a paragraph.

    Python's Markdown needs that line; GitHub does not.
    """
    lines: list[str] = []
    fenced = False
    for line in page.splitlines():
        fenced ^= line.startswith("```")
        before = lines[-1] if lines else ""
        begins = _ITEM.match(line) and not _ITEM.match(before) and not before.startswith(" ")
        if begins and before and not fenced and not before.startswith("#"):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _pages(text: str) -> Iterator[dict[str, str]]:
    for name, target in _LINK.findall(text):
        path = f"docs/{target}" if not target.startswith("../") else target.removeprefix("../")
        title = f"Decision {name}" if target.startswith("adr/") else name
        yield {title: path}


def files_of_pages(repository: Path) -> set[Path]:
    """Returns the pages, and every file of the repository that a page leads to."""
    found = {repository / "README.md", repository / "CONTRIBUTING.md"}
    found |= {path for path in (repository / "docs").rglob("*") if path.is_file()}
    waiting = {file for file in found if file.suffix == ".md"}
    while waiting:
        page = waiting.pop()
        targets = {(page.parent / t).resolve() for _, t in _LINK.findall(page.read_text())}
        new = {file for file in _within(repository, targets) if file.is_file()} - found
        found |= new
        waiting |= {file for file in new if file.suffix == ".md"}
    return found


def _within(repository: Path, files: Iterable[Path]) -> Iterator[Path]:
    return (file for file in files if file.is_relative_to(repository))


def _settings(repository: Path, source: Path, site: Path) -> dict[str, Any]:
    return {
        "site_name": "VAS",
        "docs_dir": str(source),
        "site_dir": str(site),
        "use_directory_urls": False,
        "nav": [
            {"VAS": "README.md"},
            *navigation((repository / _INDEX).read_text()),
        ],
        # Of the roles' tables and the like, which pages lead to.
        "not_in_nav": "*",
        "theme": {
            "name": "material",
            "font": False,
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": [
            "tables",
            "fenced_code",
            "sane_lists",
            {"toc": {"permalink": True}},
        ],
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}},
    }
