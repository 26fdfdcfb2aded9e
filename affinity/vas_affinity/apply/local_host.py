"""Applies a placement to this machine, compares the machine with it, and rolls it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.immovable import read_immovable, record_immovable
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.apply.setting import Gone, Immovable, Setting, Value
from vas_affinity.apply.thread import key_of
from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import HostPlacement, Pin
from vas_core.errors import VasError
from vas_core.journal import Journal, JournalEntry
from vas_core.predictable_names import HOST_JOURNAL


@dataclass(frozen=True)
class SettingChange:
    """A setting and the value it must get; `restore`: `wanted` is its value from before VAS."""

    setting: Setting
    wanted: Value
    reason: str
    restore: bool = False


@dataclass(frozen=True)
class LocalHost:
    """The kernel and libvirt of this machine. `state` is a directory that a reboot empties."""

    state: Path
    settings: HostSettings = field(default_factory=HostSettings)

    @property
    def journal(self) -> Path:
        """Returns the file that keeps the values from before VAS."""
        return self.state / HOST_JOURNAL.of()

    def plan(self, placement: HostPlacement) -> list[SettingResult]:
        """Returns what `apply` would do with each setting. Changes nothing.

        Raises VasError for a damaged journal.
        """
        self.settings.virsh.forget()
        changes, skipped = self._changes(placement, Journal.peek(self.journal))
        immovable = read_immovable(self.state)
        return [*skipped, *(_note_immovable(_compare(change), immovable) for change in changes)]

    def verify(self, placement: HostPlacement) -> list[SettingResult]:
        """Compares each setting of a placement with its present value. Changes nothing.

        Raises VasError for a damaged journal.
        """
        restores = ApplyOutcome.TO_RESTORE
        return [found for found in self.plan(placement) if found.verdict is not restores]

    def apply(self, placement: HostPlacement) -> list[SettingResult]:
        """Writes a placement's settings and reads them back.

        A setting that an earlier placement pinned and this one does not gets back the value it had
        before VAS. A setting that fails does not stop the others. Raises VasError for a damaged
        journal.
        """
        with Journal.open(self.journal) as journal:
            self.settings.virsh.forget()
            changes, skipped = self._changes(placement, journal.pending_rollback())
            done = _make(changes, journal, self.settings)
            record_immovable(self.state, done)
        return [*skipped, *done]

    def add(self, pins: Sequence[Pin], ended: Sequence[Pin] = ()) -> list[SettingResult]:
        """Writes the settings of further pins and reads them back; leaves all others as they are.

        Drops from the journal what it has of the threads of `ended`. Raises VasError for a damaged
        journal.
        """
        with Journal.open(self.journal) as journal:
            changes, skipped = self._changes(HostPlacement(host="", pins=tuple(pins)), ())
            done = _make(changes, journal, self.settings)
            journal.forget([key_of(pin.tid, pin.start) for pin in ended])
            record_immovable(self.state, done)
        return [*skipped, *done]

    def rollback(self) -> list[SettingResult]:
        """Restores every setting that VAS changed, last change first; returns what was done.

        Empty if there is nothing to restore. Raises VasError for a damaged journal.
        """
        return self.apply(HostPlacement(host="")) if Journal.peek(self.journal) else []

    def _changes(
        self, placement: HostPlacement, entries: Iterable[JournalEntry]
    ) -> tuple[list[SettingChange], list[SettingResult]]:
        changes: list[SettingChange] = []
        skipped: list[SettingResult] = []
        for pin in placement.pins:
            try:
                wanted, found = format_cpulist(pin.cpus), self.settings.of_pin(pin)
                changes += [SettingChange(setting, wanted, pin.reason) for setting in found]
            except Gone as gone:
                skipped.append(_result_of_pin(pin, ApplyOutcome.SKIPPED, gone.what))
            except (VasError, OSError) as broken:
                skipped.append(_result_of_pin(pin, ApplyOutcome.FAILED, reason_of(broken)))
        planned = {change.setting.key for change in changes}
        left = (entry for entry in entries if entry.target not in planned)
        return [*(self._undo(entry) for entry in left), *changes], skipped

    def _undo(self, entry: JournalEntry) -> SettingChange:
        setting = self.settings.of_key(entry.target)
        return SettingChange(setting, entry.original, "not in the plan any more", restore=True)


def reason_of(broken: Exception) -> str:
    """Returns an exception's message in one line."""
    if isinstance(broken, OSError):
        return broken.strerror or str(broken)
    return str(broken)


def _result_of_pin(pin: Pin, outcome: ApplyOutcome, why: str) -> SettingResult:
    what = f"{pin.target} {pin.name}" + (f" of {pin.guest}" if pin.guest else "")
    return SettingResult(what=what, wanted=format_cpulist(pin.cpus), verdict=outcome, why=why)


def _compare(change: SettingChange) -> SettingResult:
    """Reads a setting and compares it with the wanted value."""
    setting, wanted = change.setting, change.wanted
    blank = SettingResult(
        what=setting.what, wanted=wanted, verdict=ApplyOutcome.AS_DESIRED, key=setting.key
    )
    try:
        now = setting.read()
    except Gone as gone:
        return replace(blank, verdict=ApplyOutcome.SKIPPED, why=gone.what)
    except (VasError, OSError) as broken:
        return replace(blank, verdict=ApplyOutcome.FAILED, why=reason_of(broken))
    found = replace(blank, before=now, now=now, why=change.reason)
    if now == wanted and not change.restore:
        return found
    outcome = ApplyOutcome.TO_RESTORE if change.restore else ApplyOutcome.DIFFERENT
    return replace(found, verdict=outcome)


def _note_immovable(found: SettingResult, immovable: dict[str, str]) -> SettingResult:
    """Reports a setting as immovable if an earlier attempt to change it was refused."""
    if found.verdict is ApplyOutcome.DIFFERENT and found.key in immovable:
        return replace(found, verdict=ApplyOutcome.IMMOVABLE, why=immovable[found.key])
    return found


def _make(
    changes: list[SettingChange], journal: Journal, settings: HostSettings
) -> list[SettingResult]:
    found = [(change, _compare(change)) for change in changes]
    to_change = [pair for pair in found if pair[1].verdict is ApplyOutcome.DIFFERENT]
    journal.remember({change.setting.key: result.before for change, result in to_change})
    written = [(change, _write(change, result)) for change, result in found]
    settings.virsh.forget()
    done = [_read_back(change, result) for change, result in written]
    _record(done, journal)
    return done


def _write(change: SettingChange, result: SettingResult) -> SettingResult:
    if result.verdict not in (ApplyOutcome.DIFFERENT, ApplyOutcome.TO_RESTORE):
        return result
    if result.now == change.wanted:
        return replace(result, verdict=ApplyOutcome.RESTORED)
    try:
        change.setting.write(change.wanted)
    except Immovable as bound:
        return replace(result, verdict=ApplyOutcome.IMMOVABLE, why=bound.what)
    except Gone as gone:
        return replace(result, verdict=ApplyOutcome.SKIPPED, why=gone.what)
    except (VasError, OSError) as refused:
        return replace(result, verdict=ApplyOutcome.FAILED, why=reason_of(refused))
    outcome = ApplyOutcome.RESTORED if change.restore else ApplyOutcome.CHANGED
    return replace(result, verdict=outcome)


def _read_back(change: SettingChange, result: SettingResult) -> SettingResult:
    """Reads a changed setting a second time, and reports what the kernel did not keep."""
    if result.verdict not in (ApplyOutcome.CHANGED, ApplyOutcome.RESTORED):
        return result
    again = _compare(replace(change, restore=False))
    if again.verdict is ApplyOutcome.DIFFERENT:
        return replace(result, verdict=ApplyOutcome.DIFFERENT, now=again.now, why="not kept")
    if again.verdict is not ApplyOutcome.AS_DESIRED:
        return replace(result, verdict=again.verdict, now=None, why=again.why)
    return replace(result, now=again.now)


def _record(done: Iterable[SettingResult], journal: Journal) -> None:
    """Keeps in the journal what must be restored later, also what may or may not have changed."""
    by_outcome: dict[ApplyOutcome, list[str]] = {}
    for result in done:
        by_outcome.setdefault(result.verdict, []).append(result.key)
    journal.confirm(by_outcome.get(ApplyOutcome.CHANGED, []))
    over = (ApplyOutcome.RESTORED, ApplyOutcome.IMMOVABLE, ApplyOutcome.SKIPPED)
    journal.forget([key for outcome in over for key in by_outcome.get(outcome, [])])
