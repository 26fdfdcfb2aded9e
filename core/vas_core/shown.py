"""Makes texts from outside fit for a terminal."""

from __future__ import annotations


def shown(text: object, *, keep: str = "") -> str:
    r"""Returns the text with its control characters escaped, but for those in `keep`.

    A file name may hold anything: what is not a printable character is shown, never sent. A byte
    of a name that is not UTF-8 is shown as the byte it is, `\xff`.
    """
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in str(text))


def counted(number: int, noun: str) -> str:
    """Returns `1 map`, `2 maps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _escaped(character: str) -> str:
    number = ord(character)
    # What `os.fsdecode` makes of a byte that is not UTF-8 (surrogateescape).
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
