"""Guests that stopped without a sync, by their own notes, and the jobs that it may have hurt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from vas_ansible.suspects import suspects_between
from vas_ansible.verify.check import Check, Said, Verdict

NAME = "unclean stop"
# What a guest's kernel keeps before it writes by itself, with servers that are busy.
_BEFORE = timedelta(minutes=15)
_MOST_JOBS = 20
_FIX = "check the output of these jobs, or run them again; then rm /var/lib/vas/unclean-stops there"


def unclean_stops(node: str, said: Said, applications: Mapping[str, Any]) -> Iterator[Check]:
    """A failed check for each stop; `applications`: what the ResourceManager lists, as registered.

    A line of the notes is when the guest was last seen up, and when it started again.
    """
    lines = [line.split() for line in said.stdout.splitlines()]
    if not said.is_ok or any(len(words) != 2 for words in lines):
        yield Check(node, NAME, Verdict.FAILED, said.reason, "see /var/lib/vas there")
        return
    if not lines:
        yield Check(node, NAME, Verdict.OK, "none noted")
    for up, again in lines:
        start, end = (datetime.fromisoformat(text) for text in (up, again))
        jobs = suspects_between(applications, start - _BEFORE, end)
        named = "; ".join(jobs[:_MOST_JOBS]) or "none that the ResourceManager still knows"
        more = f"; and {len(jobs) - _MOST_JOBS} more" if len(jobs) > _MOST_JOBS else ""
        if "json" not in applications:
            named, more = "unknown, as the ResourceManager does not answer", ""
        what = f"stopped without a sync after {up}, started again at {again}; suspect jobs: {named}"
        yield Check(node, NAME, Verdict.FAILED, what + more, _FIX)
