"""One run of the janitor: ask about everything first, then judge, then act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from vas_core.errors import VasError
from vas_yarn.resourcemanager import ResourceManager
from vas_yarn.shuffle.janitor.rule import Judged, Verdict, judge, judge_quarantined, over_since
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
    store: StagingStore, manager: ResourceManager, grace_ms: int, *, dry_run: bool
) -> list[Row]:
    """Judges everything below the staging root and acts on it.

    Raises VasError, with nothing touched, when the ResourceManager leaves any doubt.
    """
    found = list(store.entries())
    directories = [d for d in found if isinstance(d, JobDirectory)]
    lives = {job: manager.life(_application(job)) for job in {d.job for d in directories}}
    remembered = store.remembered()
    verdicts = {j.job: j for j in judge(lives, remembered, manager.now_ms, grace_ms)}
    waiting = {d.where: d for d in found if isinstance(d, Quarantined)}
    judged = judge_quarantined(
        ((d.where, d.moved_ms) for d in waiting.values()), manager.now_ms, grace_ms
    )
    over = over_since(lives, remembered)
    if not dry_run and over != remembered:
        store.remember(over)
    rows = [Row(r.where, "refused", r.why) for r in found if isinstance(r, Refused)]
    for directory in directories:
        move = partial(store.move, directory, manager.now_ms)
        rows.append(_act(directory.where, verdicts[directory.job], dry_run, move))
    rows += [_act(j.job, j, dry_run, partial(store.delete, waiting[j.job])) for j in judged]
    return rows


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
