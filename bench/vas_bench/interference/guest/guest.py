"""Boots a guest once, lets it work in its own rounds, and pauses it in all others."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from vas_bench.interference.cgroups import Groups
from vas_bench.interference.guest.machine import Machine, overlay_argv, qemu_argv, seed
from vas_bench.interference.guest.qmp import Qmp
from vas_core.documents import parse_json
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_core.reading import read_end
from vas_core.seed import write_seed

# TCG on a CPU that others use too: each is many times what it takes.
_BOOT_SECONDS = 2400.0
_JOB_SECONDS = 7200.0
_END_SECONDS = 20.0
_CONSOLE_BYTES = 3000
# It must not live longer than whoever would end it.
_TIED = ("setpriv", "--pdeathsig", "KILL")


class GuestMessage(BaseModel):
    """A line of `loop.py`: seconds are of the guest's own clock, which a pause stops too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Literal["up", "made", "maps", "ended", "failed"]
    seconds: float = 0.0
    why: str = ""


def parse(text: str) -> list[GuestMessage]:
    """Returns the messages of all whole lines. Raises BadInput for a line of something else."""
    whole = text[: text.rfind("\n") + 1].splitlines()
    hint = "look at the guest's console"
    return [
        parse_json(
            line.encode(), GuestMessage, kind="word of the guest's", where="guest", hint=hint
        )
        for line in whole
    ]


def job_seconds(said: list[GuestMessage]) -> list[float]:
    """Returns the seconds of the jobs that ended."""
    return [each.seconds for each in said if each.at == "ended"]


@dataclass(frozen=True)
class AnalyticsGuest:
    """A running guest, whose QEMU is in the cgroup `guest` of `groups`. Get one by `booted`."""

    machine: Machine
    groups: Groups
    process: subprocess.Popen[bytes]
    qmp: Qmp

    @contextmanager
    def at_work(self) -> Iterator[list[float]]:
        """Lets the guest run during the body, which begins when a job's maps run; then pauses it.

        Yields a list that has the jobs' seconds afterwards. Raises VasError when a job failed.
        """
        before, seconds = len(self.said()), list[float]()
        self.qmp.do("cont")
        try:
            self.until("maps", before, _JOB_SECONDS)
            yield seconds
            # One that ended early in the body is not the one that ran next to all of it.
            found = self.until("ended", len(self.said()), _JOB_SECONDS)
            seconds.extend(job_seconds(found[before:]))
        finally:
            if self.process.poll() is None:
                self.qmp.do("stop")

    def until(self, at: str, after: int, seconds: float) -> list[GuestMessage]:
        """Waits for a message `at` behind the first `after` ones; returns all messages so far.

        Raises VasError when a job failed, QEMU ended, or so many seconds have passed.
        """

        def look() -> list[GuestMessage]:
            said = self.said()
            if failed := next((each for each in said if each.at == "failed"), None):
                raise VasError(f"a job failed: {failed.why}", where="guest")
            if self.process.poll() is not None:
                raise VasError(f"QEMU has ended; console:\n{self._console()}", where="guest")
            return said

        def heard(said: list[GuestMessage]) -> bool:
            return any(each.at == at for each in said[after:])

        return poll(look, heard, seconds, f"the guest to say {at!r}")

    def said(self) -> list[GuestMessage]:
        """Returns all messages of the guest so far."""
        file = self.machine.said
        return parse(file.read_text()) if file.exists() else []

    def _console(self) -> str:
        file = self.machine.console
        if not file.exists():
            return "nothing"
        return read_end(file, _CONSOLE_BYTES).decode(errors="replace")


@contextmanager
def booted(machine: Machine, groups: Groups) -> Iterator[AnalyticsGuest]:
    """Boots a guest, has it make its data and pauses it; ends it and removes its files after.

    Raises VasError with the console's end where it does not come up.
    """
    shutil.rmtree(machine.work, ignore_errors=True)
    machine.work.mkdir(mode=0o700, parents=True)
    try:
        run(overlay_argv(machine))
        write_seed(machine.seed, seed(machine))
        entering = groups.entering("guest", [*_TIED, *qemu_argv(machine)])
        with _running(entering, machine.log) as (process, qmp):
            guest = AnalyticsGuest(machine, groups, process, qmp)
            guest.until("made", 0, _BOOT_SECONDS)
            qmp.do("stop")
            yield guest
    finally:
        shutil.rmtree(machine.work, ignore_errors=True)


@contextmanager
def _running(argv: list[str], log: Path) -> Iterator[tuple[subprocess.Popen[bytes], Qmp]]:
    # A session of its own: the terminal's Ctrl-C is this process' to handle.
    with log.open("wb") as said:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield process, _monitor(process, log)
    finally:
        _end(process)


def _monitor(process: subprocess.Popen[bytes], log: Path) -> Qmp:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        return Qmp(process.stdout, process.stdin)
    except VasError as silent:
        said = log.read_text(errors="replace").strip()
        raise VasError(f"QEMU does not start: {said or silent}", where="guest") from silent


def _end(process: subprocess.Popen[bytes]) -> None:
    """Its disk goes with it, so there is nothing that it would have to write."""
    process.kill()
    with suppress(BrokenPipeError), process:
        process.wait(_END_SECONDS)
