"""Programs that start cost a budget of their own: on the real kernel, by its events."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from new_threads import CPUS, PROGRAM, Service, placing
from prometheus_client import CollectorRegistry
from test_new_threads import SECONDS, WORKER, may_listen, runs_on, started_with

from vas_affinity.arrivals.metrics import ArrivalMetrics
from vas_affinity.arrivals.notices import Notices
from vas_affinity.arrivals.placer import CPU_SHARE
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.way import NoticeWay
from vas_core.polling import poll
from vas_core.root import Root

pytestmark = [
    pytest.mark.machine,
    pytest.mark.slow,
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
    pytest.mark.skipif(not may_listen(), reason="process events are not for this user"),
]


@contextmanager
def flooded() -> Iterator[None]:
    """Two processes start a program after another meanwhile."""
    code = "import os\nwhile True: os.spawnv(os.P_WAIT, '/bin/true', ['true'])"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.close()


def test_a_flood_of_programs_spends_its_own_budget(tmp_path: Path, service: Service) -> None:
    """Every exec has to be looked at, as it may be a restarted service; a new thread waits not."""
    with placing(tmp_path, NoticeWay.CONNECTOR) as at:
        started_with(at, service, *(f"{WORKER}/{number}" for number in range(9)))
        began, before = time.monotonic(), at.value("arrival_cpu_seconds_total")
        with flooded():
            poll(
                lambda: at.value("arrivals_lost_total", why="programs"),
                lambda n: n > 0,
                SECONDS,
                "the budget of programs is spent",
            )
            for _ in range(9):
                tid, _ = service.thread("worker")
                runs_on(tid, CPUS[-1])
        assert at.value("arrivals_total", way="connector") >= 9, "no look found them"
        assert at.value("arrivals_lost_total", why="budget") == 0
        used = at.value("arrival_cpu_seconds_total") - before
        most = 0.3 + CPU_SHARE * (time.monotonic() - began)
        assert used <= most + 0.1, f"{used} s of CPU"


def test_a_service_that_starts_while_programs_are_not_heard_is_found_after_it(
    service: Service,
) -> None:
    metrics = ArrivalMetrics(CollectorRegistry())
    notices = Notices(PlanProcesses(Root(), (PROGRAM,)), metrics, NoticeWay.CONNECTOR)
    now = time.monotonic()
    assert notices.read(now).way is NoticeWay.LOOK
    # As if programs had taken a while.
    notices._on_programs += 0.2
    notices.read(now)
    other = Service()
    unheard = notices.read(now)
    assert all(pid != other.pid for pid, _ in unheard.threads)
    assert notices.wait_seconds(now) > 1
    later = notices.read(notices._programs_at)
    assert later.way is NoticeWay.CONNECTOR
    assert (other.pid, other.pid) in later.threads
    other.close()
    notices.close()
