"""The parts that place new threads: events, filter, budget, pins taken over and planned."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from guest_machines import host, machine, nvme, thread
from host_trees import write
from hypothesis import given
from hypothesis import strategies as st
from placement_problems import problems

from vas_affinity.arrivals.adopt import Arrival, adopted, unplaced, with_pins, without
from vas_affinity.arrivals.again import Again
from vas_affinity.arrivals.budget import CpuBudget
from vas_affinity.arrivals.events import KTHREADD, MOST_FILTERED, What, filter_of, parse, request
from vas_affinity.arrivals.replanned import PlanBasis, is_known, planned_pins
from vas_affinity.arrivals.scan import TaskScan
from vas_affinity.daemon.decide import DaemonState, Offer
from vas_affinity.daemon.planner import Planner, Replanned
from vas_affinity.machine.distance import ratio_distances
from vas_affinity.machine.snapshot import ThreadRole
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.search.exact import optimum
from vas_affinity.search.score import PlacementProblem, score
from vas_affinity.threads import ThreadPlanInput, ThreadPlanSettings
from vas_core.root import Root

EXIT = 0x80000000


def message(what: int, one: int, two: int, three: int = 0, four: int = 0) -> bytes:
    """A message of the kernel's; the numbers are the first four of the event's data."""
    event = struct.pack("=IIQIIII", what, 0, 77, one, two, three, four)
    connector = struct.pack("=IIIIHH", 1, 1, 9, 42, len(event), 0)
    return struct.pack("=IHHII", 16 + len(connector + event), 3, 0, 0, 0) + connector + event


def passes(program: bytes, packet: bytes) -> bool:
    """Runs a filter of the four instructions in use on a packet, as the kernel does."""
    accumulator = at = 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            accumulator = int(struct.unpack_from(">I", packet, value)[0])
        elif code == 0x05:
            at += value
        elif code == 0x15:
            at += if_true if accumulator == value else if_false
        else:
            assert code == 0x06
            return bool(value)


PIDS = st.integers(1, 6)


@given(
    what=st.sampled_from([*What, EXIT, 0x4, 0x100]),
    data=st.tuples(PIDS, PIDS, PIDS, PIDS),
    pids=st.sets(st.integers(3, 6)),
    programs=st.booleans(),
)
def test_the_filter_lets_through_what_concerns_the_plan(
    what: int, data: tuple[int, int, int, int], pids: set[int], programs: bool
) -> None:
    wanted = {
        What.ACK: True,
        What.EXEC: programs or data[1] in pids | {KTHREADD},
        What.FORK: data[3] in pids or data[1] in pids | {KTHREADD},
        What.COMM: data[1] in pids | {KTHREADD},
    }.get(What(what) if what in set(What) else None, False)
    assert passes(filter_of(pids, programs=programs), message(what, *data)) is wanted


def test_a_filter_of_too_many_processes_lets_all_forks_through() -> None:
    pids = range(1000, 1000 + MOST_FILTERED)
    assert not passes(filter_of(pids), message(What.FORK, 7, 7, 8, 7))
    assert passes(filter_of(pids), message(What.FORK, 7, 7, 8, pids[-1]))
    assert passes(filter_of([*pids, 5]), message(What.FORK, 7, 7, 8, 7))
    assert not passes(filter_of([*pids, 5]), message(EXIT, 7, 7))


def test_events_name_the_process_and_its_thread() -> None:
    fork = parse(message(What.FORK, 1, 1, 12, 10))
    assert fork and (fork.what, fork.pid, fork.tid, fork.at_ns) == (What.FORK, 10, 12, 77)
    comm = parse(message(What.COMM, 12, 10))
    assert comm and (comm.what, comm.pid, comm.tid) == (What.COMM, 10, 12)
    answer = parse(message(What.ACK, 13, 0))
    assert answer and (answer.pid, answer.answers) == (13, 41)
    assert parse(message(EXIT, 1, 1)) is None


@given(content=st.binary(max_size=120))
def test_any_bytes_are_an_event_or_refused(content: bytes) -> None:
    for bytes_ in (content, message(What.COMM, 1, 1)[:36] + content):
        try:
            event = parse(bytes_)
        except ValueError:
            continue
        assert event is None or event.what in set(What)


def test_a_request_is_a_message_that_no_event_is_taken_for() -> None:
    asked = request(41, 7)
    assert struct.unpack_from("=I", asked)[0] == len(asked)
    with pytest.raises(ValueError, match="bytes"):
        parse(asked)


def test_a_budget_allows_its_share_after_a_burst_and_pauses_when_it_is_spent() -> None:
    now, used = [0.0], [0.0]
    budget = CpuBudget(0.01, 0.4, lambda: now[0], lambda: used[0])
    used[0] = 0.3
    assert not budget.is_spent()
    used[0] = 0.5
    assert budget.is_spent()
    assert budget.wait_seconds() == pytest.approx((0.1 + 0.02) / 0.01 + 0.1)
    now[0] = 11.0
    assert budget.is_spent(), "a 20th of the burst has to be back first"
    now[0] = 13.0
    assert not budget.is_spent()
    now[0] = 1e6
    assert not budget.is_spent()
    used[0] += 0.41
    assert budget.is_spent(), "no more than the burst is saved up"
    now[0] += budget.wait_seconds()
    used[0] += 0.0005
    assert not budget.is_spent(), "one pause is enough, although asking costs something"


def pin(key: str, tid: int, start: int = 1, cpu: int = 3) -> Pin:
    return Pin(target=PinTarget.THREAD, name=key, cpus=(cpu,), reason="test", tid=tid, start=start)


def arrival(tid: int, name: str, start: int = 100, pid: int = 10) -> Arrival:
    return Arrival(pid, tid, start, "svc", name, cpu=0, is_asked=True)


GUEST = Pin(target=PinTarget.VCPU, name="0", guest="vm1", cpus=(3,), reason="test")
UNSEEN = Pin(target=PinTarget.THREAD, name="svc/w/9", cpus=(3,), reason="test")
PLAN = HostPlacement(
    host="oss1", pins=(GUEST, UNSEEN, pin("svc/w/0", 11), pin("svc/w/1", 12), pin("svc/a/b/0", 13))
)


def adopt(plan: HostPlacement, *arrivals: Arrival, alive: tuple[int, ...] = ()) -> list[Pin]:
    return adopted(plan, arrivals, lambda pin: pin.tid in alive)[0]


def test_a_new_thread_takes_the_pin_of_an_ended_one_of_its_name() -> None:
    (taken,) = adopt(PLAN, arrival(50, "w"), alive=(11,))
    assert (taken.name, taken.tid, taken.start, taken.cpus) == ("svc/w/1", 50, 100, (3,))
    assert adopt(PLAN, arrival(50, "w"), alive=(11, 12)) == []
    assert [p.name for p in adopt(PLAN, arrival(50, "a/b"), arrival(51, "a"))] == ["svc/a/b/0"]
    both = adopt(PLAN, arrival(50, "w"), arrival(51, "w"), arrival(52, "w"))
    assert [(p.name, p.tid) for p in both] == [("svc/w/0", 50), ("svc/w/1", 51)]


def test_the_plan_has_each_thread_and_each_key_once() -> None:
    plan = with_pins(PLAN, adopt(PLAN, arrival(50, "w")))
    assert [p.name for p in plan.pins] == [p.name for p in PLAN.pins]
    renamed = with_pins(plan, adopt(plan, arrival(50, "a/b")))
    assert {p.name: p.tid for p in renamed.pins} == {
        "0": None,
        "svc/w/9": None,
        "svc/w/0": 0,
        "svc/w/1": 12,
        "svc/a/b/0": 50,
    }
    assert without(renamed, {"svc/w/0", "0"}).pins == (
        *renamed.pins[:2], *renamed.pins[3:]
    )  # fmt: skip


def test_a_thread_keeps_its_pin_unless_it_got_that_at_its_creation() -> None:
    renamed = arrival(11, "other", start=1)
    assert unplaced(PLAN, [renamed], ()) == []
    assert unplaced(PLAN, [renamed], {(11, 1)}) == [renamed]
    assert unplaced(PLAN, [arrival(11, "w", start=1)], {(11, 1)}) == []
    late, early = arrival(60, "x", start=9), arrival(61, "x", start=8)
    assert unplaced(PLAN, [late, early], ()) == [early, late]


def planning_basis() -> PlanBasis:
    threads = tuple(
        thread(20 + number, ThreadRole.SERVICE).model_copy(
            update={"pid": 10, "key": f"svc/w/{number}", "last_cpu": number, "start": 1, "cpu": 0.5}
        )
        for number in range(3)
    )
    snapshot = host(machine(nodes=1, cores=4, threads=1), nvme(30, 0))
    snapshot = snapshot.model_copy(update={"threads": threads})
    distances = ratio_distances(snapshot.topology)
    return PlanBasis(snapshot, ThreadPlanInput(), ThreadPlanSettings(), distances)


def test_new_threads_are_planned_around_those_that_are_there() -> None:
    basis, plan = planning_basis(), HostPlacement(host="oss1")
    new = [arrival(30, "w"), arrival(31, "w")]
    assert not any(is_known(basis, one) for one in new)
    assert is_known(basis, arrival(20, "w", start=1))
    alive = {10: [20, 21, 22, 30, 31]}
    first, second = planned_pins(basis, plan, new, alive)
    assert (first.name, first.tid, first.cpus) == ("svc/w/3", 30, (3,)), "the CPU that is free"
    assert second.name == "svc/w/4"
    assert first.reason.startswith("when it appeared: ")
    ended = next(planned_pins(basis, plan, new, {10: [20, 22, 30]}))
    assert ended.cpus[0] in (1, 3)
    placed = HostPlacement(host="oss1", pins=(pin("svc/w/3", 29, cpu=3), pin("svc/w/1", 21, cpu=2)))
    third = next(planned_pins(basis, placed, new, {10: [20, 21, 22, 29, 30]}))
    assert (third.name, third.cpus) == ("svc/w/4", (1,)), "others were placed or moved since"


def test_a_thread_that_the_users_choice_leaves_out_is_not_planned() -> None:
    import re

    basis = planning_basis()
    basis = replace(basis, known=replace(basis.known, only=re.compile("svc/w")))
    new = [arrival(30, "other"), arrival(31, "w")]
    assert [p.tid for p in planned_pins(basis, HostPlacement(host="h"), new, {})] == [31]


@given(problem=problems())
def test_one_thread_alone_goes_to_the_cpu_of_the_lowest_score(problem: PlacementProblem) -> None:
    alone = problem.only(np.array([0]))
    scores = [score(alone, np.array([place])) for place in range(len(alone.cpus))]
    start = np.array([int(np.argmax(scores))])
    found = optimum(alone, start, max(scores), branches=1)
    assert found.proved
    assert score(alone, found.places) == pytest.approx(min(scores))


def test_an_offer_gets_the_threads_that_were_placed_since() -> None:
    offered = HostPlacement(host="oss1", pins=(pin("svc/w/0", 20), pin("svc/w/1", 21)))
    found = Replanned(Offer(offered, gain=1.0), planning_basis(), now=2.0, best=1.0)
    planner = Planner(PLAN, lambda _: found)
    assert planner.adopt([pin("svc/w/2", 22)]) is None
    planner.offer(DaemonState(asked=PLAN), 0.0)
    added = [pin("svc/w/2", 22), pin("svc/w/1", 99), pin("svc/x/0", 20)]
    offer = planner.adopt(added)
    assert offer and offer.plan.pins == (*offered.pins, added[0])
    assert planner.offer(DaemonState(asked=PLAN), 1.0) == offer
    assert planner.found == found


def test_what_must_be_looked_at_again_is_due_at_its_times_and_bounded() -> None:
    again = Again((0.5, 2.0), most=2)
    assert again.next_at() == math.inf
    assert again.add((1, 1), 10.0) and again.add((1, 2), 11.0)
    assert again.add((1, 1), 10.4), "it is there already, with its times"
    assert not again.add((1, 3), 11.0)
    assert again.next_at() == 10.5
    assert [again.due(at) for at in (10.4, 10.5, 10.6)] == [[], [(1, 1)], []]
    assert again.due(12.5) == [(1, 2), (1, 1)]
    again.keep({1: [2]})
    assert again.due(99.0) == [(1, 2)]
    assert again.due(99.0) == []


def test_a_scan_reads_the_processes_only_after_something_new(tmp_path: Path) -> None:
    def there(last: int, *tids: int) -> None:
        write(tmp_path, {"proc/loadavg": f"0.00 0.01 0.05 1/99 {last}\n"})
        for tid in tids:
            (tmp_path / f"proc/7/task/{tid}").mkdir(parents=True, exist_ok=True)

    scan = TaskScan(Root(tmp_path))
    there(100, 7)
    assert scan.new({7}, 0.0) == [(7, 7)]
    assert scan.new({7}, 1.5) == [(7, 7)], "it may have got its name"
    assert scan.new({7}, 1.6) == []
    there(100, 8)
    assert scan.new({7}, 2.0) == [], "nothing was started"
    there(101, 9)
    both = [(7, 8), (7, 9)]
    assert scan.new({7}, 2.1) == both
    assert [scan.new({7}, at) for at in (2.12, 2.14, 2.18, 2.22)] == [[], both, [], both]
    assert [scan.new({7}, at) for at in (2.3, 2.35, 2.5, 2.6, 2.7)] == [[], both, [], both, []]
    there(300, *range(10, 400))
    assert len(scan.new({7}, 4.0)) == 256
    assert len(scan.new({7}, 5.0)) == 256
    assert len(scan.new({7}, 5.1)) == 134, "the rest is noticed later"
    assert scan.new(set(), 9.0) == []
