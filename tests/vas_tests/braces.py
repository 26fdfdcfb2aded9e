"""Finds the functions of Java, C and Rust by their braces, for the limit of their length."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Comments and texts, which may hold braces: three quotes before one, as Java has both.
_QUIET = re.compile(
    r'/\*.*?\*/|//[^\n]*|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\\n])\'', re.S
)
_ANNOTATION = re.compile(r"(?:@\w+(?:\([^)]*\))?\s*)+")
_FUNCTION = re.compile(
    r".*\bfn (?P<rust>\w+)|[^=(]*?\b(?P<name>\w+)\s*\((?:.*)\)\s*(?:throws [\w.,\s]+)?$", re.S
)
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "try", "catch", "synchronized", "new", "return"}


def braced_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yields the name of each function with a body, and its number of lines."""
    source = _QUIET.sub(lambda match: "\n" * match[0].count("\n"), source)
    open_blocks: list[tuple[str | None, int]] = []
    head_from = 0
    for found in re.finditer("[;{}]", source):
        if found[0] == "{":
            head = _ANNOTATION.sub("", source[head_from : found.start()].strip())
            open_blocks.append((_name(head), found.start() - len(head)))
        elif found[0] == "}" and open_blocks:
            name, begin = open_blocks.pop()
            if name:
                yield name, source.count("\n", begin, found.start()) + 1
        head_from = found.end()


def _name(head: str) -> str | None:
    match = _FUNCTION.match(head)
    if not match or ("->" in head and not match["rust"]):
        return None
    name = match["rust"] or match["name"]
    return None if name in _NOT_FUNCTIONS or " new " in head else str(name)
