"""What the daemon's planner offers: a gain, a cost, and what it leaves as it is."""

from __future__ import annotations

import math

import pytest
from guest_machines import host, machine, nvme, thread

from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.arrivals.replanned import PlanBasis
from vas_affinity.daemon.metrics import AffinityMetrics
from vas_affinity.daemon.replan import found_of, offer_of
from vas_affinity.machine.distance import ratio_distances
from vas_affinity.machine.snapshot import Snapshot, ThreadRole
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.search.score import score
from vas_affinity.threads import ThreadPlan, ThreadPlanInput, ThreadPlanSettings, plan_threads

GUEST = Pin(target=PinTarget.VCPU, name="0", guest="vm1", cpus=(3,), reason="test")
OLD = Pin(target=PinTarget.THREAD, name="old/old/0", cpus=(3,), reason="test", tid=9, start=9)
IN_FORCE = HostPlacement(host="oss1", pins=(GUEST, OLD))


def planned(*last_cpus: int) -> ThreadPlan:
    """Storage threads that are there today, on a machine whose disk interrupts CPU 0."""
    threads = tuple(
        thread(10 + index, ThreadRole.STORAGE).model_copy(
            update={"last_cpu": cpu, "cpu": 0.5, "device": "nvme0"}
        )
        for index, cpu in enumerate(last_cpus)
    )
    return plan_threads(_host(threads))


def _host(threads: tuple[object, ...]) -> Snapshot:
    return host(machine(), nvme(30, 0)).model_copy(update={"threads": threads})


def _best() -> tuple[int, ...]:
    return tuple(pin.cpus[0] for pin in planned(0, 0).placement.pins)


def test_threads_on_one_cpu_are_worth_moving() -> None:
    far = planned(0, 0)
    offer = offer_of(far, IN_FORCE, 0.1)
    assert offer is not None and offer.gain is not None
    today = score(far.problem.arrays, far.problem.start)
    assert offer.gain == pytest.approx(today - score(far.problem.arrays, far.places))
    assert offer.gain > 0
    moved = (far.problem.start != far.places).mean()
    assert offer.cost == pytest.approx(0.1 * today * moved)


def test_guests_stay_and_threads_are_replaced() -> None:
    offer = offer_of(planned(0, 0), IN_FORCE, 0.1)
    assert offer is not None
    assert offer.plan.pins[0] == GUEST
    assert OLD not in offer.plan.pins
    assert [pin.tid for pin in offer.plan.pins[1:]] == [10, 11]


def test_threads_that_are_where_they_should_be_are_no_offer() -> None:
    assert offer_of(planned(*_best()), IN_FORCE, 0.1) is None


def test_with_nothing_in_force_it_is_the_plan_alone() -> None:
    offer = offer_of(planned(0, 0), None, 0.1)
    assert offer is not None
    assert offer.plan.host == "oss1"
    assert {pin.target for pin in offer.plan.pins} == {PinTarget.THREAD}


def _values(metrics: AffinityMetrics, name: str, label: str) -> dict[str, float]:
    """The samples of a metric by one label."""
    (family,) = (found for found in metrics.registry.collect() if found.name == name)
    return {sample.labels[label]: sample.value for sample in family.samples}


def test_the_scores_of_now_and_of_the_plan_are_exported() -> None:
    """Threads on a CPU that the user excludes are where they must not be."""
    metrics = AffinityMetrics()
    assert all(map(math.isnan, _values(metrics, "vas_affinity_score", "of").values()))
    planned_ = planned(0, 0)
    snapshot = planned_.problem.snapshot
    distances = ratio_distances(snapshot.topology)
    basis = PlanBasis(snapshot, ThreadPlanInput(), ThreadPlanSettings(), distances)
    found = found_of(planned_, None, 0.1, basis)
    metrics.observe_plan(found)
    assert found.best < found.now
    assert _values(metrics, "vas_affinity_score", "of") == {"now": found.now, "best": found.best}
    assert _values(metrics, "vas_affinity_violations", "kind")["forbidden"] == 0
    settings = ThreadPlanSettings(cpus=(3, 4))
    elsewhere = plan_threads(snapshot, None, settings)
    metrics.observe_plan(found_of(elsewhere, None, 0.1, basis))
    assert _values(metrics, "vas_affinity_violations", "kind")["forbidden"] == 2


def test_lost_pins_are_counted_by_kind() -> None:
    def result(key: str, verdict: ApplyOutcome) -> SettingResult:
        return SettingResult(what="x", wanted="1", verdict=verdict, key=key)

    metrics = AffinityMetrics()
    different = ApplyOutcome.DIFFERENT
    metrics.observe(
        [
            result("thread:1:2", different),
            result("thread:2:2", ApplyOutcome.AS_DESIRED),
            result("guest:vcpu:0:live:uuid:vm1", different),
            result("guest:vcpu:1:live:uuid:vm1", different),
            result("guest:emulator::config:uuid:vm1", different),
            result("interrupt:30:x", ApplyOutcome.IMMOVABLE),
            result("group:7:a", different),
            result("", ApplyOutcome.SKIPPED),
        ]
    )
    wanted = {"vcpu": 2, "emulator": 1, "iothread": 0, "thread": 1, "interrupt": 0, "group": 1}
    assert _values(metrics, "vas_affinity_violations", "kind") == wanted | {"forbidden": 0}
    metrics.observe([])
    assert set(_values(metrics, "vas_affinity_violations", "kind").values()) == {0}
