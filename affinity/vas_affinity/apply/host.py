"""One host: making a plan true, comparing with it, and giving everything back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from vas_affinity.apply.immovable import read_immovable, record_immovable
from vas_affinity.apply.knob import Gone, Immovable, Knob, Value
from vas_affinity.apply.knobs import Knobs
from vas_affinity.apply.outcome import Outcome, Verdict
from vas_affinity.cpulist import format_cpulist
from vas_affinity.placement import Pin, Placement
from vas_core.errors import VasError
from vas_core.journal import Journal, JournalEntry
from vas_core.predictable_names import HOST_JOURNAL


@dataclass(frozen=True)
class Task:
    """A value and what it is to be; `restore` where that is what it was before VAS."""

    knob: Knob
    wanted: Value
    reason: str
    restore: bool = False


@dataclass(frozen=True)
class Host:
    """The kernel and libvirt of this machine. `state` is a directory that a reboot empties."""

    state: Path
    knobs: Knobs = field(default_factory=Knobs)

    @property
    def journal(self) -> Path:
        """The file of the values before."""
        return self.state / HOST_JOURNAL.of()

    def plan(self, placement: Placement) -> list[Outcome]:
        """What `apply` would do. Changes nothing."""
        self.knobs.virsh.forget()
        tasks, skipped = self._tasks(placement, Journal.peek(self.journal))
        bound = read_immovable(self.state)
        return [*skipped, *(_heed(_compare(task), bound) for task in tasks)]

    def verify(self, placement: Placement) -> list[Outcome]:
        """How everything in a plan is now."""
        return [found for found in self.plan(placement) if found.verdict is not Verdict.TO_RESTORE]

    def apply(self, placement: Placement) -> list[Outcome]:
        """Makes a plan true and reads it back.

        What an earlier plan pinned and this one does not gets back the value it had before VAS.
        One value that fails keeps no other back. Raises VasError for a damaged journal.
        """
        with Journal.open(self.journal) as journal:
            self.knobs.virsh.forget()
            tasks, skipped = self._tasks(placement, journal.pending_rollback())
            done = _make(tasks, journal, self.knobs)
            record_immovable(self.state, done)
        return [*skipped, *done]

    def rollback(self) -> list[Outcome]:
        """Gives every value that VAS changed what it had, last change first."""
        return self.apply(Placement(host="")) if Journal.peek(self.journal) else []

    def _tasks(
        self, placement: Placement, entries: Iterable[JournalEntry]
    ) -> tuple[list[Task], list[Outcome]]:
        tasks: list[Task] = []
        skipped: list[Outcome] = []
        for pin in placement.pins:
            try:
                wanted, turned = format_cpulist(pin.cpus), self.knobs.of_pin(pin)
                tasks += [Task(knob, wanted, pin.reason) for knob in turned]
            except Gone as gone:
                skipped.append(_outcome_of_pin(pin, Verdict.SKIPPED, gone.what))
            except (VasError, OSError) as broken:
                skipped.append(_outcome_of_pin(pin, Verdict.FAILED, said(broken)))
        planned = {task.knob.key for task in tasks}
        left = (entry for entry in entries if entry.target not in planned)
        return [*(self._undo(entry) for entry in left), *tasks], skipped

    def _undo(self, entry: JournalEntry) -> Task:
        knob = self.knobs.of_key(entry.target)
        return Task(knob, entry.original, "not in the plan any more", restore=True)


def said(broken: Exception) -> str:
    """What an edge's error says, in a line."""
    if isinstance(broken, OSError):
        return broken.strerror or str(broken)
    return str(broken)


def _outcome_of_pin(pin: Pin, verdict: Verdict, why: str) -> Outcome:
    what = f"{pin.target} {pin.name}" + (f" of {pin.guest}" if pin.guest else "")
    return Outcome(what=what, wanted=format_cpulist(pin.cpus), verdict=verdict, why=why)


def _compare(task: Task) -> Outcome:
    """How a value is now: nothing is changed."""
    blank = Outcome(
        what=task.knob.what, wanted=task.wanted, verdict=Verdict.AS_WISHED, key=task.knob.key
    )
    try:
        now = task.knob.read()
    except Gone as gone:
        return replace(blank, verdict=Verdict.SKIPPED, why=gone.what)
    except (VasError, OSError) as broken:
        return replace(blank, verdict=Verdict.FAILED, why=said(broken))
    found = replace(blank, before=now, now=now, why=task.reason)
    if now == task.wanted and not task.restore:
        return found
    return replace(found, verdict=Verdict.TO_RESTORE if task.restore else Verdict.DIFFERENT)


def _heed(found: Outcome, bound: dict[str, str]) -> Outcome:
    """What was tried before, and could not be moved."""
    if found.verdict is Verdict.DIFFERENT and found.key in bound:
        return replace(found, verdict=Verdict.IMMOVABLE, why=bound[found.key])
    return found


def _make(tasks: list[Task], journal: Journal, knobs: Knobs) -> list[Outcome]:
    found = [(task, _compare(task)) for task in tasks]
    to_change = [pair for pair in found if pair[1].verdict is Verdict.DIFFERENT]
    journal.remember({task.knob.key: outcome.before for task, outcome in to_change})
    written = [(task, _write(task, outcome)) for task, outcome in found]
    knobs.virsh.forget()
    done = [_read_back(task, outcome) for task, outcome in written]
    _record(done, journal)
    return done


def _write(task: Task, outcome: Outcome) -> Outcome:
    if outcome.verdict not in (Verdict.DIFFERENT, Verdict.TO_RESTORE):
        return outcome
    if outcome.now == task.wanted:
        return replace(outcome, verdict=Verdict.RESTORED)
    try:
        task.knob.write(task.wanted)
    except Immovable as bound:
        return replace(outcome, verdict=Verdict.IMMOVABLE, why=bound.what)
    except Gone as gone:
        return replace(outcome, verdict=Verdict.SKIPPED, why=gone.what)
    except (VasError, OSError) as refused:
        return replace(outcome, verdict=Verdict.FAILED, why=said(refused))
    return replace(outcome, verdict=Verdict.RESTORED if task.restore else Verdict.CHANGED)


def _read_back(task: Task, outcome: Outcome) -> Outcome:
    """Holds a change to a second reading."""
    if outcome.verdict not in (Verdict.CHANGED, Verdict.RESTORED):
        return outcome
    again = _compare(replace(task, restore=False))
    if again.verdict is Verdict.DIFFERENT:
        return replace(outcome, verdict=Verdict.DIFFERENT, now=again.now, why="not kept")
    if again.verdict is not Verdict.AS_WISHED:
        return replace(outcome, verdict=again.verdict, now=None, why=again.why)
    return replace(outcome, now=again.now)


def _record(done: Iterable[Outcome], journal: Journal) -> None:
    """In the journal stays what has to be given back: also what may or may not have changed."""
    by_verdict: dict[Verdict, list[str]] = {}
    for outcome in done:
        by_verdict.setdefault(outcome.verdict, []).append(outcome.key)
    journal.confirm(by_verdict.get(Verdict.CHANGED, []))
    over = (Verdict.RESTORED, Verdict.IMMOVABLE, Verdict.SKIPPED)
    journal.forget([key for verdict in over for key in by_verdict.get(verdict, [])])
