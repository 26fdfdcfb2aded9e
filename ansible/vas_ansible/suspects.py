"""Lists jobs whose output may be incomplete, as guests stopped without a sync. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_ADVICE = "check their output, or run them again"


def suspect_lines(
    guests: Sequence[str], minutes: int, answers: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Returns a heading and one line for each suspect job.

    `answers`: results of Ansible's module uri for the ResourceManager's `/ws/v1/cluster/apps`, one
    for jobs that ended within `minutes` and one for jobs that run. If an answer is missing, a line
    says that the jobs are unknown.
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
    """Returns one line for each job that ended between two times, runs, or hides its end."""
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
    """Hadoop's JSON may hold a single job without a list."""
    found = ((answer.get("json") or {}).get("apps") or {}).get("app") or []
    return [found] if isinstance(found, Mapping) else [*found]


def _end(job: Mapping[str, Any]) -> str:
    """The ResourceManager hides the end of a private job: its time is 0."""
    milliseconds = int(job.get("finishedTime") or 0)
    if not milliseconds:
        return str(job.get("state", "")).lower()
    when = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    return f"{str(job.get('finalStatus', '')).lower()} at {when}"
