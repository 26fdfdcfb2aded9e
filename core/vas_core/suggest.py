"""The known name that somebody meant."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

_TYPO_EDITS = 2
_SHOWN = 20


def suggestion(word: str, known: Iterable[str], what: str) -> str:
    """`did you mean X?` for a typing error of up to two letters, else the first 20 known ones."""
    names = list(known)
    close = process.extractOne(word, names, scorer=Levenshtein.distance, score_cutoff=_TYPO_EDITS)
    if close:
        return f"did you mean {close[0]}?"
    return f"{what}: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
