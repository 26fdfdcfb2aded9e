"""Analytics next to something else: a job again and again, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event as Flag
from typing import Protocol

from vas_core.polling import poll
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import OnEvent
from vas_yarn.jobs.systems import Arm

_START_SECONDS = 180.0
_MAPS = ": map "


class Repeatable(Protocol):
    """A job that can be run as often as one likes."""

    def run(self, arm: Arm, *, on_event: OnEvent) -> JobResult:
        """Runs it once, and says how far it is. Raises VasError when it fails."""

    def discard(self, arm: Arm) -> None:
        """Removes what it wrote."""


@contextmanager
def in_a_loop(job: Repeatable, arm: Arm, give_up: Callable[[], None]) -> Iterator[list[float]]:
    """Runs a job again and again next to the body, which begins when the first one has containers.

    Yields where each job's seconds come. After the body the job that then runs comes to its end;
    after a body that failed `give_up` has to end it. Raises VasError when a job failed.
    """
    runs, enough = Flag(), Flag()
    seconds: list[float] = []

    def heard(event: Event) -> None:
        if _MAPS in event.text:
            runs.set()

    def loop() -> None:
        while not enough.is_set():
            seconds.append(job.run(arm, on_event=heard).seconds)
            job.discard(arm)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(loop)
        try:
            started = poll(
                lambda: runs.is_set() or future.done(), bool, _START_SECONDS, "the job to run maps"
            )
            assert started
            if future.done():
                future.result()
            yield seconds
        except BaseException:
            give_up()
            raise
        finally:
            enough.set()
        future.result()
