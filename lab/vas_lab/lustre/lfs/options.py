"""Reads command-line options as glibc's getopt_long does, with lfs' own words for errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


class UsageError(Exception):
    """A wrong option, with the text for stderr. lfs prints its usage too and ends with 4."""


@dataclass(frozen=True)
class Option:
    """An option of lfs; `argument` is "no", "required", or "optional" (attached or after `=`)."""

    name: str
    short: str = ""
    argument: str = "no"


@dataclass
class Parsed:
    """The options of a command line in order, with their values, and its operands."""

    options: list[tuple[str, str | None]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Tells whether the option was given."""
        return any(given == name for given, _ in self.options)

    def value(self, name: str) -> str | None:
        """Returns the last value of an option, or None."""
        return next((value for given, value in reversed(self.options) if given == name), None)


def parse(words: Sequence[str], known: Sequence[Option]) -> Parsed:
    """Parses options and operands in any order. Raises UsageError."""
    parsed, rest = Parsed(), list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            # As captured: what follows `--` is lost, and lfs misses its file name.
            break
        if word.startswith("--"):
            _long(word, rest, known, parsed)
        elif word.startswith("-") and word != "-":
            _short(word, rest, known, parsed)
        else:
            parsed.operands.append(word)
    return parsed


def _long(word: str, rest: list[str], known: Sequence[Option], parsed: Parsed) -> None:
    name, equals, value = word[2:].partition("=")
    matches = {o.name: o for o in known if o.name == name} or {
        o.name: o for o in known if o.name.startswith(name)
    }
    if len(matches) != 1:
        raise UsageError(f"lfs: unrecognized option '{word}'")
    option = next(iter(matches.values()))
    if option.argument == "no" and equals:
        raise UsageError(f"lfs: option '--{option.name}' doesn't allow an argument")
    if option.argument == "required" and not equals:
        parsed.options.append((option.name, _next(rest, f"--{option.name}")))
    else:
        parsed.options.append((option.name, value if equals else None))


def _short(word: str, rest: list[str], known: Sequence[Option], parsed: Parsed) -> None:
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        option = next((o for o in known if o.short == letter), None)
        if option is None:
            raise UsageError(f"lfs: unrecognized option '-{letter}'")
        if option.argument == "no":
            parsed.options.append((option.name, None))
            continue
        value = letters or None
        if option.argument == "required" and value is None:
            value = _next(rest, f"-{letter}")
        parsed.options.append((option.name, value))
        return


def _next(rest: list[str], name: str) -> str:
    if not rest:
        raise UsageError(f"lfs: option '{name}' requires an argument")
    return rest.pop(0)
