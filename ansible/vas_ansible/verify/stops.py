"""Guests that stopped without a sync, by their own notes, and the jobs that it may have hurt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from vas_ansible.suspects import suspects_between
from vas_ansible.verify.check import Check, Said, Verdict

NAME = "unclean stop"
# What a guest's kernel keeps before it writes by itself, with servers that are busy.
_BEFORE = timedelta(minutes=15)
_MOST_JOBS = 20
_NOTED = "%Y-%m-%dT%H:%M:%SZ"
_FIX = "check the output of these jobs, or run them again; then rm /var/lib/vas/unclean-stops there"


def unclean_stops(node: str, said: Said, applications: Mapping[str, Any]) -> Iterator[Check]:
    """A failed check for each stop; `applications`: what the ResourceManager lists, as registered.

    A line of the notes is when the guest was last seen up, and when it started again. The guest's
    root writes them: a line that is not that is a failed check of this guest.
    """
    if not said.is_ok:
        yield Check(node, NAME, Verdict.FAILED, said.reason, "see /var/lib/vas there")
    elif not said.stdout:
        yield Check(node, NAME, Verdict.OK, "none noted")
    else:
        for line in said.stdout.splitlines():
            yield _stop(node, line, applications)


def _stop(node: str, line: str, applications: Mapping[str, Any]) -> Check:
    try:
        up, again = line.split()
        start, end = (datetime.strptime(text, _NOTED).replace(tzinfo=UTC) for text in (up, again))
        start -= _BEFORE
    except (ValueError, OverflowError):
        what = f"{line[:100]!a} in its notes is not when it was up and when it started again"
        return Check(node, NAME, Verdict.FAILED, what, "see /var/lib/vas/unclean-stops there")
    jobs = suspects_between(applications, start, end)
    named = "; ".join(jobs[:_MOST_JOBS]) or "none that the ResourceManager still knows"
    more = f"; and {len(jobs) - _MOST_JOBS} more" if len(jobs) > _MOST_JOBS else ""
    if "json" not in applications:
        named, more = "unknown, as the ResourceManager does not answer", ""
    what = f"stopped without a sync after {up}, started again at {again}; suspect jobs: {named}"
    return Check(node, NAME, Verdict.FAILED, what + more, _FIX)
