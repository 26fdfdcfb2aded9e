"""Holds a contradiction in a job's configuration, and reads numbers for the rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite

from vas_yarn.site_files import JobConfiguration


@dataclass(frozen=True)
class Contradiction:
    """A key whose value has not the effect it asks for, why, and what to write instead."""

    key: str
    value: str
    why: str
    fix: str

    def as_json(self) -> dict[str, str]:
        """Returns the row as `vas lint --json` prints it."""
        return asdict(self)


def number(conf: JobConfiguration, key: str, default: float) -> float:
    """Returns a key's number, also with a unit (`512m`); the default for any other value.

    Hadoop refuses a number with a unit. The rule `numbers` reports that; the other rules take the
    number.
    """
    digits = conf.get(key).lower().removesuffix("b").removesuffix("m")
    try:
        value = float(digits)
    except ValueError:
        return default
    return value if isfinite(value) else default
