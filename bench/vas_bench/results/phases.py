"""A job's time by phase, closed: the phases and what is left of the job add up to it."""

from __future__ import annotations

from collections.abc import Mapping

UNACCOUNTED = "unaccounted"
_ROUNDING_SECONDS = 0.01


def close(phases: Mapping[str, float], job_seconds: float) -> dict[str, float]:
    """Returns the phases and, last, `unaccounted`: the job's seconds that are in no phase.

    Raises ValueError for a negative phase, for phases that are longer than the job, and for an
    `unaccounted` that does not close the sum.
    """
    listed = {name: seconds for name, seconds in phases.items() if name != UNACCOUNTED}
    for name, seconds in listed.items():
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"phase {name!r} takes {seconds:g} s")
    left = job_seconds - sum(listed.values())
    if left < -_ROUNDING_SECONDS:
        raise ValueError(f"the phases take {-left:.3f} s more than the job's {job_seconds:g} s")
    left = max(0.0, left)
    given = phases.get(UNACCOUNTED, left)
    if abs(given - left) > _ROUNDING_SECONDS:
        raise ValueError(f"{given:g} s are said to be unaccounted, {left:.3f} s are")
    return listed | {UNACCOUNTED: round(left, 3)}
