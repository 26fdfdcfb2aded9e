"""Texts from outside, fit for a terminal."""

from __future__ import annotations


def shown(text: object, *, keep: str = "") -> str:
    """A text with its control characters escaped, but for those in `keep`.

    A file name may hold anything: what is no printable character is shown, never sent.
    """
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode()
        for c in str(text)
    )
