"""Runs the janitor once: asks about all jobs of a user, decides, acts, then takes the next user."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial

from vas_core.errors import VasError
from vas_core.predictable_names import JANITOR
from vas_yarn.resourcemanager import ActiveResourceManager, ApplicationLife, Doubt
from vas_yarn.shuffle.janitor.removal import Strange
from vas_yarn.shuffle.janitor.rule import (
    Clock,
    JanitorDecision,
    Judged,
    judge,
    judge_quarantined,
    learned,
)
from vas_yarn.shuffle.janitor.store import (
    JobDirectory,
    OfUser,
    Quarantined,
    RefusedEntry,
    StagingStore,
)


@dataclass(frozen=True)
class SweepRow:
    """The outcome for one directory. `done` is false in a dry run, and after a failure."""

    where: str
    verdict: str
    why: str
    done: bool = False
    failed: bool = False

    def as_json(self) -> dict[str, object]:
        """Returns the row as `vas shuffle gc --json` prints it."""
        return asdict(self)


def sweep(
    store: StagingStore,
    manager: ActiveResourceManager,
    grace_ms: int,
    *,
    assume_over_ms: int | None = None,
    dry_run: bool,
) -> Iterator[SweepRow]:
    """Yields the outcome for each directory below the staging root, and moves or deletes it.

    Where it is in doubt about an application, it keeps that one's directory. Raises VasError if the
    ResourceManager is not active any more, and then touches nothing further; VasError or OSError
    if the janitor's memory cannot be read, or written for another reason than EACCES or EPERM.
    """
    here_ms = time.time_ns() // 1_000_000
    clock = Clock(manager.now_ms, grace_ms, assume_over_ms, here_ms=here_ms)
    run = _Run(store, manager, clock, dry_run, store.remembered())
    for user in store.users():
        yield from run.of_user(user)
    yield from run.forget_others()


@dataclass
class _Run:
    store: StagingStore
    manager: ActiveResourceManager
    clock: Clock
    dry_run: bool
    remembered: dict[str, int]
    """Job -> when it ended (Unix ms), of this run and those before."""
    seen: set[str] = field(default_factory=set)

    def of_user(self, user: OfUser) -> Iterator[SweepRow]:
        """Asks about all of one user's jobs before it touches one."""
        self.seen |= user.names
        yield from (
            SweepRow(e.where, "refused", e.why) for e in user.entries if isinstance(e, RefusedEntry)
        )
        directories = [entry for entry in user.entries if isinstance(entry, JobDirectory)]
        lives = {d.job: self.manager.life(_application(d.job)) for d in directories}
        before = dict(self.remembered)
        yield from self._remember(learned(lives, before, self.clock.now_ms), before)
        for found in directories:
            yield self._of_job(found, lives[found.job], before)
        for waiting in user.entries:
            if isinstance(waiting, Quarantined):
                yield self._of_quarantine(waiting)

    def forget_others(self) -> Iterator[SweepRow]:
        """Forgets the jobs of which nothing is left."""
        left = {job: ended for job, ended in self.remembered.items() if job in self.seen}
        yield from self._remember(left, self.remembered)

    def _of_job(
        self, found: JobDirectory, life: ApplicationLife | Doubt | None, before: dict[str, int]
    ) -> SweepRow:
        changed: dict[str, int] = {}
        if self.clock.assume_over_ms is not None and life is None and found.job not in before:
            try:
                changed[found.job] = self.store.changed_ms(found)
            except FileNotFoundError:
                return SweepRow(found.where, JanitorDecision.UNKNOWN.value, "gone meanwhile")
            except Strange as wrong:
                return SweepRow(found.where, "refused", wrong.what)
            except OSError as wrong:
                return SweepRow(
                    found.where, JanitorDecision.UNKNOWN.value, f"failed: {wrong}", failed=True
                )
        (judged,) = judge({found.job: life}, before, self.clock, changed)
        move = partial(self.store.move, found, self.clock.now_ms)
        return _act(found.where, judged, self.dry_run, move)

    def _of_quarantine(self, waiting: Quarantined) -> SweepRow:
        (judged,) = judge_quarantined(
            [(waiting.where, waiting.moved_ms)], self.clock.now_ms, self.clock.grace_ms
        )
        begin_again = partial(self.store.begin_again, waiting, self.clock.now_ms)
        delete = partial(self.store.delete, waiting)
        action = delete if judged.verdict is JanitorDecision.DELETE else begin_again
        return _act(waiting.where, judged, self.dry_run, action)

    def _remember(self, over: dict[str, int], before: dict[str, int]) -> Iterator[SweepRow]:
        """Without a memory nobody knows how long a job is over: then nothing is removed."""
        self.remembered = over
        if self.dry_run or over == before:
            return
        try:
            self.store.remember(over)
        except PermissionError as wrong:
            # The whole of a root that a nodemap squashes: each directory has its row all the same.
            self.dry_run = True
            why = f"cannot be written: {wrong.strerror}; nothing is removed in this run"
            yield SweepRow(JANITOR.of(), "refused", why, failed=True)


def _application(job: str) -> str:
    return job.replace("job_", "application_", 1)


def _act(where: str, judged: Judged, dry_run: bool, action: Callable[[], None]) -> SweepRow:
    row = SweepRow(where, judged.verdict.value, judged.why)
    if dry_run or judged.verdict not in (JanitorDecision.QUARANTINE, JanitorDecision.DELETE):
        return row
    try:
        action()
    except FileNotFoundError:
        return SweepRow(where, judged.verdict.value, "gone meanwhile")
    except Strange as wrong:
        return SweepRow(where, "refused", wrong.what)
    except Exception as wrong:  # whatever one directory does, the others have their turn
        is_known = isinstance(wrong, OSError | VasError)
        why = str(wrong) if is_known else repr(wrong)
        return SweepRow(where, judged.verdict.value, f"failed: {why}", failed=True)
    return SweepRow(where, judged.verdict.value, judged.why, done=True)
