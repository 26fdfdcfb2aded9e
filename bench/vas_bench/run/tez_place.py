"""Runs jobs at a place, and gives those on Tez the counters and times that MapReduce's have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vas_bench.run.session import Details
from vas_bench.run.tez_history import TezHistory, parse
from vas_bench.run.times import phases_of
from vas_core.polling import poll
from vas_core.process import Completed
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace, OnEvent, PlaceFacts
from vas_yarn.jobs.trees import inside

# An application master closes its history a moment after its client has heard of the end.
_HISTORY_SECONDS = 30.0


class WithTez:
    """A `JobPlace` around another one. `last` is the history of the last job, if it ran on Tez.

    `history` is the directory where Tez is told to write it.
    """

    def __init__(self, place: JobPlace, history: str) -> None:
        self._place, self._directory = place, history
        self.last: TezHistory | None = None

    @property
    def spec(self) -> PlaceFacts:
        """The other place's map and directory."""
        return self._place.spec

    def refuse_broken(self) -> None:
        """Raises VasError if the other place is broken."""
        self._place.refuse_broken()

    def call(
        self, argv: Sequence[str], *, node: str | None = None, check: bool = True
    ) -> Completed:
        """Runs a program at the other place."""
        return self._place.call(argv, node=node, check=check)

    def run_job(
        self,
        argv: Sequence[str],
        conf: Mapping[str, str] | None = None,
        *,
        jars: Sequence[Path] = (),
        on_event: OnEvent = lambda _: None,
    ) -> JobResult:
        """Runs a job at the other place; a job on Tez gets its counters from Tez's history."""
        self.last = None
        done = self._place.run_job(argv, conf, jars=jars, on_event=on_event)
        if done.counters or not done.application_id:
            return done
        self.last = self._history(done.application_id)
        return self.last.job(done)

    def _history(self, application: str) -> TezHistory:
        attempt = application.replace("application_", "appattempt_") + "_000001"
        file = inside(self._place, f"{self._directory}/history.txt.{attempt}")

        def look() -> TezHistory | None:
            return parse(self._place.call(["cat", str(file)], check=False).stdout)

        what = f"the end of {application} in {file}"
        found = poll(look, lambda seen: seen is not None, _HISTORY_SECONDS, what)
        assert found is not None
        return found


def details_of(history: TezHistory | None) -> Details:
    """Returns the phases of a run on Tez, which keeps no record of a map's split."""
    return Details(phases_of(history.times())) if history else Details()
