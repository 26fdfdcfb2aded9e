"""New threads are placed when they appear: on the real kernel, by its events and by a scan."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from new_threads import CPUS, PROGRAM, Placing, Service, placing, plan
from prometheus_client import CollectorRegistry

from vas_affinity.apply.thread import key_of
from vas_affinity.arrivals.events import What
from vas_affinity.arrivals.listening import ProcConnector
from vas_affinity.arrivals.metrics import ArrivalMetrics
from vas_affinity.arrivals.notices import Notices
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.arrivals.way import NoticeWay
from vas_affinity.machine.distance import ratio_distances
from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.threads import ThreadPlanInput, ThreadPlanSettings
from vas_core.journal import Journal
from vas_core.polling import poll
from vas_core.process import run
from vas_core.root import Root

SECONDS = 30.0
WORKER = f"{PROGRAM}/worker"


def may_listen() -> bool:
    try:
        ProcConnector().close()
    except OSError:
        return False
    return True


pytestmark = [
    pytest.mark.machine,
    pytest.mark.slow,
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
]
needs_events = pytest.mark.skipif(not may_listen(), reason="process events are not for this user")
BOTH = [pytest.param(NoticeWay.CONNECTOR, marks=needs_events), NoticeWay.SCAN]


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.close()


def runs_on(tid: int, cpu: int) -> None:
    poll(lambda: os.sched_getaffinity(tid), lambda seen: seen == {cpu}, SECONDS, f"{tid} on {cpu}")


def ready(at: Placing, tid: int) -> None:
    """Waits until the placer has looked once and pinned the first thread."""
    poll(lambda: at.value("arrivals_total", way="look"), lambda n: n > 0, SECONDS, f"{tid} placed")


def started_with(at: Placing, service: Service, *keys: str) -> None:
    """Publishes a plan with these keys, after a thread that the first look places."""
    tid, _ = service.thread("first")
    at.publish(plan(service, f"{PROGRAM}/first/0", *keys))
    ready(at, tid)


@pytest.mark.parametrize("way", BOTH)
def test_a_new_thread_gets_the_place_of_an_ended_one_of_its_name(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    with placing(tmp_path, way) as at:
        started_with(at, service, f"{WORKER}/0")
        tid, _ = service.thread("worker")
        runs_on(tid, CPUS[-1])
        poll(lambda: at.value("arrivals_total", way=way), lambda n: n == 1, SECONDS, "one placed")
        poll(lambda: at.pins()[f"{WORKER}/0"].tid, lambda n: n == tid, SECONDS, "its pin")
        other, _ = service.thread("worker")
        stranger, _ = service.thread("stranger")
        time.sleep(0.3)  # no pin is left for them: nothing may happen
        assert os.sched_getaffinity(other) == os.sched_getaffinity(stranger) == set(CPUS)
    assert os.sched_getaffinity(tid) == set(CPUS), "a rollback restores it"


@pytest.mark.parametrize("way", BOTH)
def test_a_new_thread_is_placed_within_50_ms(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    """The best of some: a busy machine delays any one, but a look is never so fast."""
    keys = [f"{WORKER}/{number}" for number in range(30)]
    delays: list[float] = []
    with placing(tmp_path, way) as at:
        started_with(at, service, *keys)
        while len(delays) < len(keys) and min(delays, default=1.0) >= 0.05:
            tid, born_ns = service.thread("worker")
            while os.sched_getaffinity(tid) != {CPUS[-1]}:
                assert time.monotonic_ns() - born_ns < SECONDS * 1e9, f"{delays}"
                time.sleep(0.002)
            delays.append((time.monotonic_ns() - born_ns) / 1e9)
            time.sleep(0.1)
        assert min(delays) < 0.05, delays
        assert at.value("arrivals_total", way=way) >= len(delays)


@pytest.mark.parametrize("way", BOTH)
def test_a_thread_that_names_itself_later_is_placed_then(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    with placing(tmp_path, way) as at:
        started_with(at, service, f"{WORKER}/0")
        tid, _ = service.thread("worker", late=0.2)
        runs_on(tid, CPUS[-1])
        poll(lambda: at.value("arrivals_total", way=way), lambda n: n == 1, SECONDS, "one placed")


@needs_events
def test_a_thread_placed_under_another_name_gives_that_place_back(
    tmp_path: Path, service: Service
) -> None:
    """A new thread has its process's name at first: it must not keep what it got for that."""
    with placing(tmp_path, NoticeWay.CONNECTOR) as at:
        started_with(at, service, f"{WORKER}/0")
        with at.shared.lock:
            at.publish(plan(service, f"{PROGRAM}/{PROGRAM}/1", f"{WORKER}/0", cpu=CPUS[0]))
        tid, _ = service.thread("worker", late=0.4)
        poll(lambda: at.pins()[f"{WORKER}/0"].tid, lambda n: n == tid, SECONDS, "the last name's")
        assert at.pins()[f"{PROGRAM}/{PROGRAM}/1"].tid == 0
        again, _ = service.thread("")
        poll(
            lambda: at.pins()[f"{PROGRAM}/{PROGRAM}/1"].tid,
            lambda n: n == again,
            SECONDS,
            "the place is free again",
        )


@pytest.mark.parametrize("way", BOTH)
def test_a_thread_that_starts_before_the_other_ends_gets_its_place_then(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    """As a service's does that is started again before the old one is gone."""
    with placing(tmp_path, way) as at:
        started_with(at, service, f"{WORKER}/0")
        first, _ = service.thread("worker", lives=0.5)
        runs_on(first, CPUS[-1])
        second, _ = service.thread("worker")
        runs_on(second, CPUS[-1])
        poll(lambda: at.value("arrivals_total", way=way), lambda n: n == 2, SECONDS, "both")


@pytest.mark.parametrize("way", BOTH)
def test_threads_that_live_for_a_millisecond_leave_nothing(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    with placing(tmp_path, way) as at:
        started_with(at, service, f"{WORKER}/0")
        for _ in range(5):
            service.thread("worker", lives=0.001, count=20)
        tid, _ = service.thread("worker")
        runs_on(tid, CPUS[-1])
        poll(lambda: at.pins()[f"{WORKER}/0"].tid, lambda n: n == tid, SECONDS, "its pin")
        entries = {entry.target for entry in Journal.peek(at.host.journal)}
        living = {key_of(one.tid, one.start) for one in at.pins().values()}
        assert entries <= living, "of threads that ended"
        assert at.value("arrivals_lost_total", why="failed") == 0


@needs_events
def test_a_program_that_starts_is_placed(tmp_path: Path, service: Service) -> None:
    """A service that restarts: its threads are those that ended."""
    program = tmp_path / "vas-restarted"
    shutil.copy(shutil.which("sleep") or "", program)
    with placing(tmp_path / "state", NoticeWay.CONNECTOR) as at:
        started_with(at, service, "vas-restarted/vas-restarted/0")
        process = subprocess.Popen([program, "600"])
        runs_on(process.pid, CPUS[-1])
        process.kill()
        process.wait()
        again = subprocess.Popen([program, "600"])
        runs_on(again.pid, CPUS[-1])
        assert at.value("arrivals_total", way="connector") == 2
        again.kill()
        again.wait()


@needs_events
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
def test_another_users_program_of_that_name_gets_no_place(tmp_path: Path, service: Service) -> None:
    program = Path("/tmp") / f"vas-taken-{os.getpid()}"
    name = program.name[:15]
    shutil.copy(shutil.which("sleep") or "", program)
    program.chmod(0o755)
    with placing(tmp_path, NoticeWay.CONNECTOR) as at:
        started_with(at, service, f"{name}/{name}/0")
        process = subprocess.Popen([program, "600"], user=65534, group=65534)
        poll(lambda: at.value("arrivals_lost_total", why="owner"), lambda n: n > 0, SECONDS, "it")
        assert os.sched_getaffinity(process.pid) == set(CPUS)
        process.kill()
        process.wait()
    program.unlink()


def basis() -> PlanBasis:
    snapshot = read_snapshot(Root(), asked=SnapshotRequest(0.0, (PROGRAM,)))
    distances = ratio_distances(snapshot.topology)
    return PlanBasis(snapshot, ThreadPlanInput(), ThreadPlanSettings(), distances)


@pytest.mark.parametrize("way", BOTH)
def test_a_thread_that_no_plan_knows_is_planned(
    tmp_path: Path, service: Service, way: NoticeWay
) -> None:
    """With --replan: the planner decides, and the threads that it saw before stay."""
    old, _ = service.thread("old")
    with placing(tmp_path, way, (str(service.pid),)) as at:
        at.publish(plan(service, f"{PROGRAM}/first/0"), basis())
        first, _ = service.thread("first")
        poll(lambda: at.pins()[f"{PROGRAM}/first/0"].tid, lambda n: n == first, SECONDS, "first")
        tid, _ = service.thread("new")
        seen = poll(
            lambda: os.sched_getaffinity(tid), lambda cpus: len(cpus) == 1, SECONDS, "a CPU"
        )
        pins = poll(at.pins, lambda pins: f"{PROGRAM}/new/0" in pins, SECONDS, "its pin")
        assert set(pins[f"{PROGRAM}/new/0"].cpus) == seen
        assert os.sched_getaffinity(old) == set(CPUS)
        service.close()
        at.placer._notices.look_now()
        at.shared.signal()
        poll(at.pins, lambda pins: f"{PROGRAM}/new/0" not in pins, SECONDS, "its end")


WITHOUT = {
    # In a network namespace of its own nobody hears process events.
    "namespace": (["unshare", "--net"], {"scan"}),
    # Recent kernels do not ask for the capability.
    "capability": (
        ["setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-all"],
        {"scan", "connector"},
    ),
}


@pytest.mark.parametrize("what", WITHOUT)
def test_without_what_the_events_may_need_threads_are_placed_all_the_same(
    tmp_path: Path, service: Service, what: str
) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import json, new_threads as t\n"
        "from vas_affinity.placement import HostPlacement; from pathlib import Path\n"
        "plan = HostPlacement.model_validate_json(sys.argv[3])\n"
        "with t.placing(Path(sys.argv[2]), t.NoticeWay.CONNECTOR) as at:\n"
        "    at.publish(plan)\n"
        "    sys.stdin.read()\n"
        "one = lambda name, **of: at.value(name, **of) == 1\n"
        "ways = [way for way in t.NoticeWay if one('arrival_way', way=way)]\n"
        "print(json.dumps([ways, one('arrivals_total', way=ways[0]),\n"
        "    one('arrival_fallbacks_total', to='scan')]))\n"
    )
    before, ways = WITHOUT[what]
    if run([*before, "true"], check=False).status:
        pytest.skip(f"{before[0]} is not for this user")
    first, _ = service.thread("first")
    placement = plan(service, f"{PROGRAM}/first/0", f"{WORKER}/0")
    process = subprocess.Popen(
        [
            *(*before, sys.executable, "-c", script, str(Path(__file__).parent)),
            *(str(tmp_path), placement.model_dump_json()),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    runs_on(first, CPUS[-1])
    tid, _ = service.thread("worker")
    runs_on(tid, CPUS[-1])
    (way,), is_counted, is_fallback = json.loads(process.communicate("")[0])
    assert way in ways
    assert is_counted
    assert is_fallback is (way == "scan")


@needs_events
def test_messages_of_others_than_the_kernel_are_counted_and_ignored(
    tmp_path: Path, service: Service
) -> None:
    with placing(tmp_path, NoticeWay.CONNECTOR) as at:
        started_with(at, service, f"{WORKER}/0")
        connector = at.placer._notices.connector
        assert connector is not None
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 11) as forger:
            forger.bind((0, 0))
            try:
                forger.sendto(exec_of(service.pid), (connector.socket.getsockname()[0], 0))
            except PermissionError:
                pytest.skip("the kernel refuses to send the message")
        poll(lambda: at.value("arrivals_lost_total", why="forged"), lambda n: n == 1, SECONDS, "it")
        tid, _ = service.thread("worker")
        runs_on(tid, CPUS[-1])


def exec_of(pid: int) -> bytes:
    """A message as the kernel sends it when a process runs another program."""
    event = struct.pack("=IIQIIII", What.EXEC, 0, 1, pid, pid, 0, 0)
    connector = struct.pack("=IIIIHH", 1, 1, 0, 0, len(event), 0)
    return struct.pack("=IHHII", 16 + len(connector + event), 3, 0, 0, 0) + connector + event


@needs_events
def test_an_overflow_is_counted_and_followed_by_one_look(service: Service) -> None:
    metrics = ArrivalMetrics(registry := CollectorRegistry())
    notices = Notices(PlanProcesses(Root(), (str(service.pid),)), metrics, NoticeWay.CONNECTOR)
    assert notices.connector
    notices.connector.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    now = time.monotonic()
    assert notices.read(now).way is NoticeWay.LOOK
    tid, _ = service.thread("worker", count=100)
    noticed = notices.read(now)
    assert noticed.way is NoticeWay.CONNECTOR
    assert registry.get_sample_value("vas_affinity_arrivals_lost_total", {"why": "overflow"}) == 1
    assert 0 < notices.wait_seconds(now) <= 5
    later = notices.read(now + 5)
    assert later.way is NoticeWay.LOOK and (service.pid, tid) in later.threads
    assert notices.read(now + 5).way is NoticeWay.CONNECTOR
    notices.close()


FLOODS = {
    "forks": "import os\nfor _ in range(2000):\n    pid = os.fork()\n    if not pid: os._exit(0)\n"
    "    os.waitpid(pid, 0)",
    "threads": "import threading\nfor _ in range(2000):\n"
    "    t = threading.Thread(target=int); t.start(); t.join()",
    "names": "import ctypes\np = ctypes.CDLL(None).prctl\nfor n in range(2000): p(15, b'%d' % n)",
}


@needs_events
@pytest.mark.parametrize("flood", FLOODS)
def test_what_other_processes_do_never_reaches_the_daemon(service: Service, flood: str) -> None:
    """The kernel's filter drops it: a bomb costs this process nothing."""
    connector = ProcConnector()
    connector.hear_of({service.pid})
    other = subprocess.Popen([sys.executable, "-c", FLOODS[flood]])
    assert other.wait() == 0
    tid, _ = service.thread("worker")
    events, heard = [], connector.read()
    while heard.events:
        assert not heard.lost
        events += heard.events
        heard = connector.read()
    connector.close()
    assert {event.what for event in events if event.pid == other.pid} <= {What.EXEC}
    assert {event.what for event in events if event.tid == tid} == {What.FORK, What.COMM}


@needs_events
def test_after_a_loss_new_threads_are_heard_again(service: Service) -> None:
    """The kernel drops events until its buffer is empty, and tells of the first one alone."""
    connector = ProcConnector()
    if os.geteuid() == 0:
        size = connector.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        assert size == 2 << 20  # whatever net.core.rmem_max is
    connector.hear_of({service.pid, os.getpid()}, programs=False)
    name = Path("/proc/self/comm")
    for _ in range(20_000):
        name.write_text(name.read_text())
    assert connector.read().lost
    tid, _ = service.thread("worker")
    heard = connector.read()
    connector.close()
    assert not heard.lost
    assert tid in {event.tid for event in heard.events}
