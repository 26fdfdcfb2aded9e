"""Makes a text of words to count, and computes without Hadoop what WordCount must write of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from vas_lab.lab import Lab

_MAKE = (
    'mkdir -p "$1"; cd "$1"; seq 30000'
    ' | awk \'{print "w" $1%7 " x" ($1*7919)%1009 " y" $1*$1%4001 >"in" NR%3}\''
)
_HASH_BITS = 32


def make_words(lab: Lab, directory: Path) -> None:
    """Writes three files of some 100 KB with about 3000 different words. Raises CommandFailed."""
    lab.call(["sh", "-euc", _MAKE, "sh", str(directory)])


def word_counts(lab: Lab, directory: Path, reducers: int) -> dict[str, str]:
    """Returns the output that WordCount must have: name of a file -> its lines.

    The last line has no line end.
    """
    text = lab.call(["sh", "-c", 'cat "$1"/*', "sh", str(directory)]).stdout
    parts: dict[str, list[str]] = {_part(number): [] for number in range(reducers)}
    for word, count in sorted(Counter(text.split()).items()):
        parts[_part(_hash(word) % reducers)].append(f"{word}\t{count}")
    return {name: "\n".join(lines) for name, lines in parts.items()}


def _part(number: int) -> str:
    return f"part-r-{number:05d}"


def _hash(word: str) -> int:
    """Text.hashCode() as HashPartitioner takes it: without its sign bit."""
    value = 1
    for byte in word.encode():
        value = 31 * value + byte
    return value % (1 << (_HASH_BITS - 1))
