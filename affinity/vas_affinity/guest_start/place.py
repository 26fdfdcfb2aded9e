"""Places a guest's threads on the CPUs of a rung, with a journal of its own for a rollback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.apply.thread import KIND, started
from vas_affinity.guest_start.ladder import Chosen, Ladder
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import threads_of
from vas_affinity.machine.reading.threads import KnownThread
from vas_affinity.placement import Pin, PinTarget
from vas_core.errors import VasError
from vas_core.journal import Journal
from vas_core.root import Root

_PLACED = (ApplyOutcome.CHANGED, ApplyOutcome.AS_DESIRED)


@dataclass(frozen=True)
class GuestStarted:
    """The rung that was taken, and what became of each of the guest's threads."""

    chosen: Chosen
    results: Sequence[SettingResult]

    @property
    def placed(self) -> int:
        """Returns the number of threads on their CPUs."""
        return sum(result.verdict in _PLACED for result in self.results)

    @property
    def is_complete(self) -> bool:
        """Tells whether every thread is placed, or has ended meanwhile."""
        fine = (*_PLACED, ApplyOutcome.SKIPPED)
        return all(result.verdict in fine for result in self.results)

    def words(self, guest: str) -> str:
        """Returns the line for the log: the rung, and why each rung above was refused."""
        parts = [f"{guest}: {self.placed} of {len(self.results)} threads by {self.chosen.rung}"]
        if not self.is_complete:
            wrong = next(r for r in self.results if r.verdict not in (*_PLACED, "skipped"))
            parts.append(f"{wrong.what}: {wrong.why}")
        return "; ".join([*parts, *self.chosen.refused])


def place(ladder: Ladder, host: LocalHost) -> GuestStarted:
    """Places the threads of a guest that runs; `host` has the journal of such threads alone.

    Raises VasError if the guest's threads cannot be found, or the journal cannot be used.
    """
    files = TreeFiles(ladder.root)
    threads = threads_of(files, ladder.guest, ladder.running)
    if not threads:
        raise VasError("; ".join(note.why for note in files.unread) or "it has no threads")
    chosen = ladder.choose()
    if chosen.places is None:
        return GuestStarted(chosen, ())
    why = f"at the guest's start, by {chosen.rung}"
    pins = [_pin(thread, chosen.places.of(_key(thread)), why) for thread in threads]
    return GuestStarted(chosen, host.add(pins, tuple(_ended(host, ladder.root))))


def _key(thread: KnownThread) -> str:
    """Returns the key of the plan's pin: QEMU's helpers have that of the emulator."""
    guest, _, rest = thread.key.partition("/")
    role, _, _ = rest.partition("/")
    return f"{guest}/{role}" if role == "emulator" else thread.key


def _pin(thread: KnownThread, cpus: tuple[int, ...], why: str) -> Pin:
    return Pin(
        target=PinTarget.THREAD,
        name=thread.key,
        cpus=cpus,
        reason=why,
        guest=thread.guest,
        tid=thread.task.tid,
        start=thread.task.start,
    )


def _ended(host: LocalHost, root: Root) -> Iterator[Pin]:
    """Yields the journal's threads that have ended: those of guests that were stopped."""
    for entry in Journal.peek(host.journal):
        kind, tid, start = entry.target.split(":")
        if kind == KIND and started(root, int(tid)) != int(start):
            yield Pin(
                target=PinTarget.THREAD,
                name="",
                cpus=(),
                reason="",
                tid=int(tid),
                start=int(start),
            )
