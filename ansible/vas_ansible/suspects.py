"""Jobs whose output may be incomplete, as guests stopped without a sync. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_ADVICE = "check their output, or run them again"


def suspect_lines(
    guests: Sequence[str], minutes: int, answers: Sequence[Mapping[str, Any]]
) -> list[str]:
    """A heading and a line for each suspect job.

    `answers`: what Ansible's module uri registered of the ResourceManager's `/ws/v1/cluster/apps`,
    for those that ended within `minutes` and for those that run. Where one is missing nobody knows
    the jobs, and that is said.
    """
    heading = (
        f"SUSPECT: {', '.join(guests)} stopped without a sync. Of these jobs bytes may be lost"
    )
    if not answers or any("json" not in answer for answer in answers):
        known = f"the ResourceManager does not answer: every job of the {minutes} minutes before"
        return [f"{heading}; {_ADVICE}:", known, *_jobs(answers)]
    jobs = [*_jobs(answers)]
    return [f"{heading}; {_ADVICE}:", *(jobs or [f"none ran in the {minutes} minutes before"])]


def suspects_between(answer: Mapping[str, Any], start: datetime, end: datetime) -> list[str]:
    """Lines of the jobs that ended between two times, and of those that run or hide their end."""
    jobs = _listed(answer)
    bounds = range(int(start.timestamp() * 1000), int(end.timestamp() * 1000) + 1)
    ends = [int(job.get("finishedTime") or 0) for job in jobs]
    kept = [job for job, at in zip(jobs, ends, strict=True) if at == 0 or at in bounds]
    return [*_jobs([{"json": {"apps": {"app": kept}}}])]


def _jobs(answers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    seen: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        for job in _listed(answer):
            seen.setdefault(job["id"], job)
    for name, job in sorted(seen.items()):
        yield f"{name} ({job.get('name', '')}) of {job.get('user', '')}: {_end(job)}"


def _listed(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Hadoop's JSON may have one job without a list."""
    found = ((answer.get("json") or {}).get("apps") or {}).get("app") or []
    return [found] if isinstance(found, Mapping) else [*found]


def _end(job: Mapping[str, Any]) -> str:
    """A private job's end is not told: the ResourceManager says 0."""
    milliseconds = int(job.get("finishedTime") or 0)
    if not milliseconds:
        return str(job.get("state", "")).lower()
    when = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    return f"{str(job.get('finalStatus', '')).lower()} at {when}"
