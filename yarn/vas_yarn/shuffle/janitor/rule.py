"""Decides which job directories go, and why others stay. Pure: no file, clock or network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from vas_yarn.resourcemanager import ApplicationLife, Doubt

Answered = ApplicationLife | Doubt | None
Lives = Mapping[str, Answered]
"""Job -> what the ResourceManager answered about its application; None: it does not know it."""


class JanitorDecision(StrEnum):
    """The janitor's decision about a job's directory."""

    LIVE = "live"
    DOUBT = "doubt"
    UNKNOWN = "unknown"
    GRACE = "grace"
    QUARANTINE = "quarantine"
    DELETE = "delete"


@dataclass(frozen=True)
class Judged:
    """A job (or what is left of it in quarantine), the verdict, and the reason in words."""

    job: str
    verdict: JanitorDecision
    why: str


@dataclass(frozen=True)
class Clock:
    """The time now, by two clocks, and the ages that decide. All in ms, times since 1970.

    `now_ms` is the ResourceManager's clock. A job is removed `grace_ms` after its end. A job that
    the ResourceManager does not know counts as over when nothing in its directory has changed for
    `assume_over_ms`; None: never. That age is by the earlier of two clocks, as the
    ResourceManager's may have jumped: `here_ms` is this machine's; None: it is not asked.
    """

    now_ms: int
    grace_ms: int
    assume_over_ms: int | None = None
    here_ms: int | None = None


def over_since(lives: Lives, remembered: Mapping[str, int], now_ms: int) -> dict[str, int]:
    """Returns job -> when it ended (Unix ms), of the jobs that are known to be over.

    `lives` are the ResourceManager's answers, which count before `remembered`, what earlier runs
    learned. An application that it has forgotten is over if it was remembered as over. One that
    hides its times is over since the run that first saw it over.
    """
    known: dict[str, int] = {}
    for job, life in lives.items():
        if isinstance(life, ApplicationLife) and life.is_over:
            known[job] = life.over_since_ms or remembered.get(job, now_ms)
        elif not isinstance(life, ApplicationLife) and job in remembered:
            known[job] = remembered[job]
    return known


def learned(lives: Lives, remembered: Mapping[str, int], now_ms: int) -> dict[str, int]:
    """Returns job -> when it ended (Unix ms), for the janitor's memory of its next run.

    These are the jobs of `over_since`, and all remembered ones that this run did not ask about:
    those of other users, and those that it left for the next run.
    """
    others = {job: ended for job, ended in remembered.items() if job not in lives}
    return others | over_since(lives, remembered, now_ms)


def judge(
    lives: Lives, remembered: Mapping[str, int], clock: Clock, changed: Mapping[str, int]
) -> list[Judged]:
    """Returns a decision on each job below the staging root.

    `lives` are the ResourceManager's answers by job, `remembered` job -> when it ended, `changed`
    job -> when anything in its directory changed last (Unix ms).
    """
    over = over_since(lives, remembered, clock.now_ms)
    return [
        _judge_one(job, life, over.get(job), clock, changed.get(job)) for job, life in lives.items()
    ]


def _judge_one(
    job: str,
    life: Answered,
    ended_ms: int | None,
    clock: Clock,
    changed_ms: int | None,
) -> Judged:
    if isinstance(life, Doubt):
        return Judged(job, JanitorDecision.DOUBT, life.why)
    if ended_ms is None and life is None:
        return _judge_unknown(job, clock, changed_ms)
    if ended_ms is None:
        return Judged(job, JanitorDecision.LIVE, "its application is not over")
    if clock.now_ms - ended_ms < clock.grace_ms:
        return Judged(job, JanitorDecision.GRACE, "over, within the grace")
    return Judged(job, JanitorDecision.QUARANTINE, "over for longer than the grace")


def _judge_unknown(job: str, clock: Clock, changed_ms: int | None) -> Judged:
    unknown = "the ResourceManager does not know it"
    if clock.assume_over_ms is None or changed_ms is None:
        return Judged(job, JanitorDecision.UNKNOWN, unknown)
    now_ms = clock.now_ms if clock.here_ms is None else min(clock.now_ms, clock.here_ms)
    if now_ms - changed_ms < clock.assume_over_ms:
        return Judged(job, JanitorDecision.UNKNOWN, f"{unknown}, and it changed lately")
    return Judged(
        job, JanitorDecision.QUARANTINE, f"{unknown}, and nothing in it changed for so long"
    )


def judge_quarantined(
    entries: Iterable[tuple[str, int]], now_ms: int, grace_ms: int
) -> list[Judged]:
    """Returns a decision on each entry in the quarantine: (name, moved there at Unix ms).

    QUARANTINE means that its time there begins again: the entry was moved at a time in the future,
    as a clock had jumped forward then.
    """
    return [_judge_waiting(name, moved_ms, now_ms, grace_ms) for name, moved_ms in entries]


def _judge_waiting(name: str, moved_ms: int, now_ms: int, grace_ms: int) -> Judged:
    if moved_ms > now_ms:
        return Judged(name, JanitorDecision.QUARANTINE, "moved at a time that has not come yet")
    if now_ms - moved_ms >= grace_ms:
        return Judged(name, JanitorDecision.DELETE, "in quarantine for longer than the grace")
    return Judged(name, JanitorDecision.GRACE, "in quarantine, within the grace")
