"""Lists the kernels that a Lustre client was built for.

The source is Lustre's own `lustre/ChangeLog` ("Client primary kernels built and tested" and "Other
clients known to build"), versions 2.16.0 (2024-11-08) and 2.17.0 (2025-12-29).
"""

from __future__ import annotations

import re

# Lustre -> the newest of RHEL 9's kernels in its list, 5.14.0-N, and the release that has it.
_NEWEST_EL9 = {"2.16": (427, "9.4"), "2.17": (611, "9.7")}
_EL9 = re.compile(r"5\.14\.0-(\d+)\..*el9")


def unfit(lustre: str, kernel: str) -> str | None:
    """Returns why a Lustre client does not fit a kernel; None if it fits, or if that is not
    known."""
    newest = _NEWEST_EL9.get(".".join(lustre.split(".")[:2]))
    found = _EL9.match(kernel)
    if not newest or not found or int(found[1]) <= newest[0]:
        return None
    return f"Lustre {lustre} was built for kernels up to 5.14.0-{newest[0]} (RHEL {newest[1]})"
