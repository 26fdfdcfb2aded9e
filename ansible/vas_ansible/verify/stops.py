"""Finds guests that stopped without a sync, by their own notes, and jobs that may have lost
output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from vas_ansible.suspects import suspects_between
from vas_ansible.verify.check import Check, CheckStatus, CommandResult

NAME = "unclean stop"
# Longest time that a guest's kernel keeps dirty pages, with busy servers.
_BEFORE = timedelta(minutes=15)
_MOST_JOBS = 20
_NOTED = "%Y-%m-%dT%H:%M:%SZ"
_FIX = "check the output of these jobs, or run them again; then rm /var/lib/vas/unclean-stops there"


def unclean_stops(
    node: str, said: CommandResult, applications: Mapping[str, Any]
) -> Iterator[Check]:
    """Yields a failed check for each noted stop, or one passed check.

    A line of the notes has the time when the guest was last up and the time when it started again.
    The guest's root can write anything there: a malformed line is a failed check of this guest.
    `applications`: the registered answer of the ResourceManager's list of jobs.
    """
    if not said.is_ok:
        yield Check(node, NAME, CheckStatus.FAILED, said.reason, "see /var/lib/vas there")
    elif not said.stdout:
        yield Check(node, NAME, CheckStatus.OK, "none noted")
    else:
        for line in said.stdout.splitlines():
            yield _stop(node, line, applications)


def _stop(node: str, line: str, applications: Mapping[str, Any]) -> Check:
    try:
        up, again = line.split()
        start, end = (datetime.strptime(text, _NOTED).replace(tzinfo=UTC) for text in (up, again))
        start -= _BEFORE
    except (ValueError, OverflowError):
        what = (
            f"{line[:100]!a} in the guest's notes does not hold two times: last up and next start"
        )
        return Check(node, NAME, CheckStatus.FAILED, what, "see /var/lib/vas/unclean-stops there")
    jobs = suspects_between(applications, start, end)
    named = "; ".join(jobs[:_MOST_JOBS]) or "none that the ResourceManager still knows"
    more = f"; and {len(jobs) - _MOST_JOBS} more" if len(jobs) > _MOST_JOBS else ""
    if "json" not in applications:
        named, more = "unknown, as the ResourceManager does not answer", ""
    what = f"stopped without a sync after {up}, started again at {again}; suspect jobs: {named}"
    return Check(node, NAME, CheckStatus.FAILED, what + more, _FIX)
