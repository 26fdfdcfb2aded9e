"""Widths of texts, estimated without a font: a little more than usual sans-serif fonts take."""

from __future__ import annotations

_WIDE, _UPPER, _USUAL, _NARROW = 1.0, 0.76, 0.64, 0.4
_NARROW_LETTERS = frozenset("fijlrtI.,:;'|!()[]/- ")
_WIDE_LETTERS = frozenset("mwMW%@")


def text_width(text: str, size: float) -> float:
    """Returns how many pixels wide a text of the font size `size` is at most."""
    return size * sum(map(_letter_width, text))


def fitted(text: str, width: float, size: float) -> str:
    """Cuts a text to a width in pixels, with an ellipsis if something was cut."""
    if text_width(text, size) <= width + 0.01:
        return text
    while len(text) > 1 and text_width(text, size) + size > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _letter_width(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return _NARROW
    if letter in _WIDE_LETTERS:
        return _WIDE
    return _UPPER if letter.isupper() else _USUAL
