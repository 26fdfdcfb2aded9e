"""Each error line of docs/troubleshooting.md is still in the code, but for its variable parts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_tests.pages import DOCS, table

PAGE = DOCS / "troubleshooting.md"
SECTIONS = ("On your machine and in the lab", "The map and the site", "Files on Lustre", "Jobs")
SOURCES = (
    "vas",
    "core/bootstrap/*.bash",
    "*/vas_*/**/*.py",
    "ansible/plugins/**/*.py",
    "yarn-plugins/*/src/main/**/*.java",
)
# Between two parts of one text: Java's "a" + "b" (on two lines), Python's "a" f"b".
_JOINT = re.compile(r'"\s*\+?\s*f?"')


def lines() -> list[str]:
    cells = [row[0] for section in SECTIONS for row in table(PAGE, section)]
    return [line for cell in cells for line in re.findall(r"`([^`]+)`", cell)]


@pytest.fixture(scope="module")
def texts() -> str:
    """All sources, their texts put together again."""
    files: list[Path] = [file for pattern in SOURCES for file in REPOSITORY.glob(pattern)]
    return "\n".join(_JOINT.sub("", file.read_text()) for file in files).lower()


def test_there_are_twenty_or_more() -> None:
    assert len(lines()) >= 20


@pytest.mark.parametrize("line", lines())
def test_its_fixed_words_stand_in_the_code(line: str, texts: str) -> None:
    fixed = [part.lower().strip(" ,;") for part in line.split("…")]
    gone = [part for part in fixed if part and part not in texts]
    assert gone == [], "correct docs/troubleshooting.md, or the message"
