"""The colours of pictures, for light and dark screens."""

from __future__ import annotations

from collections.abc import Mapping

Theme = Mapping[str, tuple[str, str, str]]
"""Class -> SVG attribute (`fill` or `stroke`), its light value, its dark value."""

# Okabe and Ito's colours, told apart with every common kind of colour blindness; without black,
# and without yellow, which is too faint for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

THEME: Theme = {
    "bg": ("fill", "#ffffff", "#14171a"),
    "ink": ("fill", "#1b1f23", "#e6e8ea"),
    "muted": ("fill", "#57606a", "#a3abb3"),
    "band": ("fill", "#f1f3f5", "#1e2327"),
    "rule": ("stroke", "#c4cad0", "#414a52"),
    "line": ("stroke", "#1b1f23", "#e6e8ea"),
    "faint": ("stroke", "#8c959f", "#7a848d"),
    "use": ("fill", "#d0d7de", "#343c44"),
}


def style_sheet(theme: Theme = THEME) -> str:
    """Returns the CSS rules for a dark screen."""
    rules = "".join(f".{name}{{{what}:{dark}}}" for name, (what, _, dark) in theme.items())
    return f"@media (prefers-color-scheme: dark){{{rules}}}"
