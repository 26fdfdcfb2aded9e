"""Names the Python distribution that VAS is installed as, its version, and its extras."""

from __future__ import annotations

import re
from importlib.metadata import requires, version

DISTRIBUTION = "vas-lustre"
"""PyPI's name of VAS: `vas` is another project there. Programs and packages are `vas`."""

_EXTRA = re.compile(r"(?P<library>[\w.-]+).*;\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")
# The environment of a developer has everything; no user is told to install that.
_NOT_FOR_USERS = ("dev",)


def own_version() -> str:
    """Returns the version of the installed VAS, that of pyproject.toml."""
    return version(DISTRIBUTION)


def extras_with(module: str) -> list[str]:
    """Returns the extras of VAS that bring the library of an imported module, sorted.

    A library whose name differs from its module's is not found: the list is then empty.
    """
    name = module.partition(".")[0].replace("_", "-").lower()
    found = (_EXTRA.match(line) for line in requires(DISTRIBUTION) or ())
    named = {f["extra"] for f in found if f and f["library"].replace("_", "-").lower() == name}
    return sorted(named.difference(_NOT_FOR_USERS))
