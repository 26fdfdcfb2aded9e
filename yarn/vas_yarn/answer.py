"""Reads values out of a web server's JSON answer, and trusts none of it.

A history server passes on files that a job's own application master wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vas_core.errors import VasError

# Of a Java long.
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class AnswerPart:
    """A part of an answer: `where` names the server and path, `found` is the JSON value."""

    where: str
    found: Any

    def text(self, key: str) -> str:
        """Returns the text under a key. Raises VasError where there is none."""
        value = self._value(key)
        if not isinstance(value, str):
            raise self._strange(key)
        return value

    def scalar(self, key: str) -> str:
        """Returns a text, number or truth value as text; Hadoop writes one as another.

        Raises VasError where there is none.
        """
        value = self._value(key)
        if not isinstance(value, str | int | float):
            raise self._strange(key)
        return str(value)

    def number(self, key: str, default: int | None = None) -> int:
        """Returns the whole number under a key, at most a Java long; the default without the key.

        Raises VasError where there is none.
        """
        value = self._value(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
            raise self._strange(key)
        return value

    def parts(self, key: str) -> Iterator[AnswerPart]:
        """Yields the items of the list under a key. Raises VasError for anything else.

        Hadoop leaves an empty list out, and writes a list of one item as that item.
        """
        value = self._value(key)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return (AnswerPart(self.where, each) for each in values)

    def _value(self, key: str) -> Any:
        if not isinstance(self.found, dict):
            raise self._strange(key)
        return self.found.get(key)

    def _strange(self, key: str) -> VasError:
        return VasError(f"answers no {key} as Hadoop does", where=self.where)
