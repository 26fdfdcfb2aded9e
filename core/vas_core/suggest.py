"""Suggests the closest known name for a misspelled one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

_TYPO_EDITS = 2
_SHOWN = 20


def closest(word: str, known: Iterable[str]) -> str | None:
    """Returns the known name that is up to two letters away from a word; None if there is none."""
    found = process.extractOne(
        word, list(known), scorer=Levenshtein.distance, score_cutoff=_TYPO_EDITS
    )
    return found[0] if found else None


def suggestion(word: str, known: Iterable[str], what: str) -> str:
    """Returns the hint `did you mean X?`, or without a close name one with the first 20 known.

    `what` names the kind of thing in the hint.
    """
    names = list(known)
    close = closest(word, names)
    if close:
        return f"did you mean {close}?"
    return f"{what}: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
