"""Reads the pages that claims quote, and refuses a figure that stands on none of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from vas_bench.reproduction.quoted import QuotedPage, missing_figures, parsed_page
from vas_core.errors import BadInput
from vas_core.reading import read_limited

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_OUTSIDE = re.compile(r"[a-z]+:|#")
_MOST_BYTES = 1 << 20


def linked_pages(text: str) -> list[str]:
    """Returns the files that a text links, without those on the internet and without anchors."""
    targets = (target for target in _LINK.findall(text) if not _OUTSIDE.match(target))
    return list(dict.fromkeys(target.partition("#")[0] for target in targets))


class QuotedSources:
    """The pages that claims quote, by their paths from one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._parsed = cache(self._read)

    def check(self, text: str, pages: Sequence[str], where: str, *, also: str = "") -> None:
        """Raises BadInput for a figure of a text that is on none of the pages it links or `pages`.

        A figure that `also` has is right too.
        """
        named = list(dict.fromkeys([*linked_pages(text), *pages]))
        found = [self._page(name, where) for name in named]
        missing = missing_figures(text, [*found, parsed_page(also)])
        if missing:
            on = " or ".join(named) or "a page: the text links none"
            hint = "correct it, or link the page that has it with its command"
            raise BadInput(f"{missing[0]} does not stand on {on}", where=where, hint=hint)

    def _page(self, name: str, where: str) -> QuotedPage:
        try:
            return self._parsed(name)
        except OSError as wrong:
            what = f"the page {name} cannot be read: {wrong.strerror}"
            raise BadInput(what, where=where, hint="link a file of the repository") from wrong

    def _read(self, name: str) -> QuotedPage:
        return parsed_page(read_limited(self._directory / name, _MOST_BYTES).decode())
