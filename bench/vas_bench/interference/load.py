"""Analytics next to something else: a job again and again, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event as Flag

from vas_core.polling import poll
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import TeraSort

_START_SECONDS = 180.0
_MAPS = ": map "


@contextmanager
def in_a_loop(job: TeraSort, arm: Arm, give_up: Callable[[], None]) -> Iterator[list[float]]:
    """Runs a job again and again next to the body, which begins when the first one has containers.

    Yields a list to which the seconds of each job are added. After the body the present job runs to
    its end; after a body that failed `give_up` has to end it. Raises VasError when a job failed.
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
