"""Compares the licences of vas-shuffled's crates with those under which VAS may be handed on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.sbom import SbomComponent
from vas_core.wheels import NODE_LOCK

LICENCES = NODE_LOCK.with_name("licences.tsv")
# What a binary under Apache-2.0 may hold: each asks for its notice, and no more.
_ALLOWED = frozenset(
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unicode-3.0", "Zlib"]
)


def read_licences(path: Path = LICENCES) -> dict[SbomComponent, str]:
    """Reads crate -> SPDX expression. Raises BadInput for a line without three columns."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.startswith("#"):
            continue
        words = line.split("\t")
        if len(words) != 3:
            hint = "crate, version, licence; tabs between them"
            raise BadInput(f"has {len(words)} columns, not 3", where=f"{path}:{number}", hint=hint)
        found[SbomComponent("cargo", words[0], words[1])] = words[2]
    return found


def licence_problems(
    crates: Iterable[SbomComponent], licences: Mapping[SbomComponent, str]
) -> list[str]:
    """Returns a sentence for each crate whose licence is unknown or not allowed, in their order."""
    found = []
    for crate in crates:
        if crate not in licences:
            found.append(f"{crate.name} {crate.version}: its licence is in no line of the list")
        elif not allows(licences[crate]):
            found.append(f"{crate.name} {crate.version}: {licences[crate]} is not allowed")
    return found


def allows(expression: str) -> bool:
    """Tells whether an SPDX expression can be met by allowed licences.

    AND stands between what all must be allowed, OR and the old `/` between what one must be; AND
    within the parentheses of an OR is not understood, and not allowed. An exception (`WITH`) is
    allowed with its licence, as it only takes conditions away.
    """
    return all(
        any(
            choice.split(" WITH ")[0].strip() in _ALLOWED
            for choice in re.split(r" OR |/", part.strip().removeprefix("(").removesuffix(")"))
        )
        for part in expression.split(" AND ")
    )
