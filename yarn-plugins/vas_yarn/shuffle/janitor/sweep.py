"""One run of the janitor: ask about everything first, then judge, then act."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from vas_core.errors import VasError
from vas_yarn.resourcemanager import ResourceManager
from vas_yarn.shuffle.janitor.rule import (
    Clock,
    Judged,
    Lives,
    Verdict,
    judge,
    judge_quarantined,
    over_since,
)
from vas_yarn.shuffle.janitor.store import JobDirectory, Quarantined, Refused, StagingStore


@dataclass(frozen=True)
class Row:
    """What became of one directory. `done` is false in a dry run, and after a failure."""

    where: str
    verdict: str
    why: str
    done: bool = False
    failed: bool = False

    def as_json(self) -> dict[str, object]:
        """The row as `vas shuffle gc --json` prints it."""
        return asdict(self)


def sweep(
    store: StagingStore,
    manager: ResourceManager,
    grace_ms: int,
    *,
    assume_over_ms: int | None = None,
    dry_run: bool,
) -> list[Row]:
    """Judges everything below the staging root and acts on it.

    A doubt about one application keeps that one's directory, and no other's. Raises VasError, with
    nothing touched, when the ResourceManager is not active any more.
    """
    found = list(store.entries())
    directories = [d for d in found if isinstance(d, JobDirectory)]
    clock = Clock(manager.now_ms, grace_ms, assume_over_ms, here_ms=time.time_ns() // 1_000_000)
    lives = {job: manager.life(_application(job)) for job in {d.job for d in directories}}
    verdicts = _judge_jobs(store, directories, lives, clock, dry_run=dry_run)
    rows = [Row(r.where, "refused", r.why) for r in found if isinstance(r, Refused)]
    for directory in directories:
        move = partial(store.move, directory, manager.now_ms)
        rows.append(_act(directory.where, verdicts[directory.job], dry_run, move))
    waiting = {d.where: d for d in found if isinstance(d, Quarantined)}
    judged = judge_quarantined(
        ((d.where, d.moved_ms) for d in waiting.values()), manager.now_ms, grace_ms
    )
    for one in judged:
        begin_again = partial(store.begin_again, waiting[one.job], manager.now_ms)
        delete = partial(store.delete, waiting[one.job])
        action = delete if one.verdict is Verdict.DELETE else begin_again
        rows.append(_act(one.job, one, dry_run, action))
    return rows


def _judge_jobs(
    store: StagingStore,
    directories: list[JobDirectory],
    lives: Lives,
    clock: Clock,
    *,
    dry_run: bool,
) -> dict[str, Judged]:
    """Verdicts by job; writes down which jobs are over."""
    remembered = store.remembered()
    over = over_since(lives, remembered, clock.now_ms)
    if not dry_run and over != remembered:
        store.remember(over)
    # One job may have directories of two users: the younger counts.
    changed: dict[str, int] = {}
    for directory in directories:
        changed[directory.job] = max(changed.get(directory.job, 0), directory.changed_ms)
    return {judged.job: judged for judged in judge(lives, remembered, clock, changed)}


def _application(job: str) -> str:
    return job.replace("job_", "application_", 1)


def _act(where: str, judged: Judged, dry_run: bool, action: Callable[[], None]) -> Row:
    row = Row(where, judged.verdict.value, judged.why)
    if dry_run or judged.verdict not in (Verdict.QUARANTINE, Verdict.DELETE):
        return row
    try:
        action()
    except FileNotFoundError:
        return Row(where, judged.verdict.value, "gone meanwhile")
    except (OSError, VasError) as wrong:
        return Row(where, judged.verdict.value, f"failed: {wrong}", failed=True)
    return Row(where, judged.verdict.value, judged.why, done=True)
