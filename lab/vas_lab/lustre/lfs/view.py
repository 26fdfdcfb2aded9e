"""Reads which parts of a layout `lfs getstripe` must show."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, auto


class Show(Flag):
    """The attributes that can be shown; lfs prints a single one without its name."""

    COUNT = auto()
    SIZE = auto()
    PATTERN = auto()
    GENERATION = auto()
    OFFSET = auto()
    POOL = auto()
    OBJECTS = auto()
    COMPONENTS = auto()
    COMPONENT_COUNT = auto()
    FID = auto()
    MDT = auto()
    DETAIL = auto()


DEFAULT = (
    Show.COUNT
    | Show.SIZE
    | Show.PATTERN
    | Show.GENERATION
    | Show.OFFSET
    | Show.POOL
    | Show.OBJECTS
    | Show.COMPONENTS
)
VERBOSE = DEFAULT | Show.DETAIL | Show.FID


@dataclass(frozen=True)
class View:
    """The options of a listing. `header`: print the path first. `ost`: only files on this OST."""

    show: Show = DEFAULT
    yaml: bool = False
    raw: bool = False
    hex_index: bool = False
    header: bool = True
    ost: int | None = None

    def index(self, number: int) -> str:
        """Returns an OST or MDT index as text, hexadecimal if asked for; -1 is always decimal."""
        return f"{number:#x}" if self.hex_index and number > 0 else str(number)

    @property
    def lone(self) -> bool:
        """Tells whether a single attribute is shown, which lfs prints without its name."""
        return len(list(self.show)) == 1


@dataclass
class TextLines:
    """Lines of text that are put together one by one."""

    parts: list[str] = field(default_factory=list)

    def add(self, text: str = "") -> None:
        """Appends one line to the text."""
        self.parts.append(f"{text}\n")

    def text(self) -> str:
        """Returns the lines so far as one text."""
        return "".join(self.parts)
