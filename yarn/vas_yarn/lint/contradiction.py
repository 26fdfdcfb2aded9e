"""A contradiction in a job's configuration, as a rule finds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite

from vas_yarn.site_files import JobConfiguration


@dataclass(frozen=True)
class Contradiction:
    """A key whose value cannot do what it says, why, and what to write instead."""

    key: str
    value: str
    why: str
    fix: str

    def as_json(self) -> dict[str, str]:
        """Returns the row as `vas lint --json` prints it."""
        return asdict(self)


def number(conf: JobConfiguration, key: str, default: float) -> float:
    """Returns the number that a value starts with; the default if there is none, or no finite one.

    Hadoop refuses a value with a unit; `numbers` says so, and other rules go on with what was
    meant.
    """
    digits = conf.get(key).lower().removesuffix("b").removesuffix("m")
    try:
        value = float(digits)
    except ValueError:
        return default
    return value if isfinite(value) else default
