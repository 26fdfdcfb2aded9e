"""Which job directories go, and why the others stay. Pure: no file, no clock, no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from vas_yarn.resourcemanager import Life


class Verdict(StrEnum):
    """What becomes of a job's directory."""

    LIVE = "live"
    UNKNOWN = "unknown"
    GRACE = "grace"
    QUARANTINE = "quarantine"
    DELETE = "delete"


@dataclass(frozen=True)
class Judged:
    """A job (or what is left of it in quarantine), the verdict, and the reason in words."""

    job: str
    verdict: Verdict
    why: str


def over_since(lives: Mapping[str, Life | None], remembered: Mapping[str, int]) -> dict[str, int]:
    """Job -> when it ended (Unix ms), of the jobs that are known to be over.

    An application that is over stays over, so what the ResourceManager said once holds when it has
    forgotten the application. What it says now goes first.
    """
    known: dict[str, int] = {}
    for job, life in lives.items():
        if life is None and job in remembered:
            known[job] = remembered[job]
        elif life is not None and life.over_since_ms is not None:
            known[job] = life.over_since_ms
    return known


def judge(
    lives: Mapping[str, Life | None], remembered: Mapping[str, int], now_ms: int, grace_ms: int
) -> list[Judged]:
    """A verdict on each job below the staging root; `lives` is what was answered about it."""
    over = over_since(lives, remembered)
    return [_judge_one(job, life, over.get(job), now_ms, grace_ms) for job, life in lives.items()]


def _judge_one(
    job: str, life: Life | None, ended_ms: int | None, now_ms: int, grace_ms: int
) -> Judged:
    if ended_ms is None and life is None:
        return Judged(job, Verdict.UNKNOWN, "the ResourceManager does not know it")
    if ended_ms is None:
        return Judged(job, Verdict.LIVE, "its application is not over")
    if now_ms - ended_ms < grace_ms:
        return Judged(job, Verdict.GRACE, "over, within the grace")
    return Judged(job, Verdict.QUARANTINE, "over for longer than the grace")


def judge_quarantined(
    entries: Iterable[tuple[str, int]], now_ms: int, grace_ms: int
) -> list[Judged]:
    """A verdict on each (name, moved there at Unix ms) in the quarantine."""
    return [
        Judged(name, Verdict.DELETE, "in quarantine for longer than the grace")
        if now_ms - moved_ms >= grace_ms
        else Judged(name, Verdict.GRACE, "in quarantine, within the grace")
        for name, moved_ms in entries
    ]
