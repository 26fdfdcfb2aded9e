"""A plan of guests, explained: per entity and term, beside the rule and today, and what-ifs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from guest_machines import host, machine, nic, nvme, thread
from test_joint import NAMES, asked, busy

from vas_affinity.joint import JointPlan, host_plan_of, plan_host
from vas_affinity.machine.snapshot import Snapshot, Thread, ThreadRole
from vas_affinity.plan.explain.explanation import explain_host
from vas_affinity.plan.explain.what_if import what_if
from vas_affinity.search.score import score
from vas_core.cli import run_command
from vas_core.errors import BadInput

MACHINES = Path(__file__).parent / "machines"


def running(*last: int) -> Snapshot:
    """A host on which vm1 runs: two vCPUs, its emulator and its iothread last ran there."""
    keys = ("vcpu/0", "vcpu/1", "emulator", "iothread/1")
    roles = (ThreadRole.VCPU, ThreadRole.VCPU, ThreadRole.EMULATOR, ThreadRole.IOTHREAD)
    threads = [
        Thread(
            tid=900 + n, pid=900, key=f"vm1/{key}", name=key, role=role, last_cpu=cpu, guest="vm1"
        )
        for n, (key, role, cpu) in enumerate(zip(keys, roles, last, strict=True))
    ]
    lines = (nvme(40, 1), nic(50, 2, node=0, per_second=100.0))
    return host(machine(cores=8), *lines, threads=(*threads, busy(7, last=1)))


@pytest.fixture
def plan() -> JointPlan:
    return plan_host(running(2, 3, 2, 2), asked(2))


def test_an_explanation_adds_up_per_entity_and_term(plan: JointPlan) -> None:
    found = explain_host(plan, "table")
    assert found.rule is not None and found.today is not None and plan.rule is not None
    assert found.planned.score == pytest.approx(plan.planned.score) == plan.placement.score
    assert found.rule.score == pytest.approx(plan.rule.score)
    assert found.planned.score <= found.rule.score
    for name in ("planned", "rule", "today"):
        whole = getattr(found, name)
        each = [getattr(entity, name) for entity in found.threads]
        for term in ("communication", "sharing", "interrupt", "memory"):
            total = sum(getattr(parts, term) for parts in each)
            assert total == pytest.approx(getattr(whole, term)), (name, term)
    assert json.loads(json.dumps(found.as_json()))["rule"]["score"] == found.rule.score


def test_today_breaks_what_the_plan_holds(plan: JointPlan) -> None:
    """Today a vCPU, the emulator and the iothread are on one core: violations, by entity."""
    found = explain_host(plan, "table")
    today = {entity.key: entity.today for entity in found.threads}
    assert today["vm1/vcpu/0-1"] is not None and today["vm1/vcpu/0-1"].forbidden
    assert found.planned.forbidden == 0
    assert found.today is not None and found.today.forbidden >= 3


def test_a_guest_that_does_not_run_has_no_today() -> None:
    found = explain_host(plan_host(host(machine(), nvme(40, 1)), asked(2)), "table")
    assert found.today is None
    assert any("today has no score" in note for note in found.notes)


def test_an_earlier_plan_is_explained_as_when_it_was_made(plan: JointPlan) -> None:
    again = host_plan_of(plan.placement, plan.planned.problem.snapshot)
    assert again.planned.places.tolist() == plan.planned.places.tolist()
    assert again.planned.score == pytest.approx(plan.planned.score)
    assert again.rule is not None and plan.rule is not None
    assert again.rule.score == pytest.approx(plan.rule.score)


def test_an_earlier_plan_of_another_machine_is_refused(plan: JointPlan) -> None:
    small = host(machine(nodes=1, cores=2), nvme(40, 1))
    with pytest.raises(BadInput, match="not online here"):
        host_plan_of(plan.placement, small)


def test_what_if_is_what_the_score_says(plan: JointPlan) -> None:
    """Every move of every entity: none lowers the score, as the plan is a local optimum."""
    arrays, places = plan.planned.problem.arrays, plan.planned.places
    refused = 0
    for key in arrays.threads:
        for cpu in arrays.cpus:
            try:
                found = what_if(plan.planned, f"{key}={cpu}")
            except BadInput:
                refused += 1
                continue
            after = places.copy()
            for one in found.moved:
                assert one.after.cpu is not None
                after[arrays.threads.index(one.key)] = arrays.cpus.index(one.after.cpu)
            reached = int(after[arrays.threads.index(key)])
            assert arrays.core[reached] == arrays.core[arrays.cpus.index(cpu)]
            assert "/vcpu/" in key or "/reserve/" in f"/{key}" or arrays.cpus[reached] == cpu
            if not found.after.forbidden:
                assert found.after.score == pytest.approx(score(arrays, after))
                assert found.change > -1e-6
    assert refused


def test_a_wrong_what_if_is_refused(plan: JointPlan) -> None:
    for move in ("nobody=1", "vm1/emulator=99", "vm1/emulator", "vm1/emulator=x"):
        with pytest.raises(BadInput):
            what_if(plan.planned, move)


@pytest.mark.unhurried
@pytest.mark.parametrize("name", NAMES)
def test_every_captured_machine_is_explained(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = str(MACHINES / name), str(tmp_path / "plan.json")
    words = ["--from", source, "--vcpus", "2"]
    assert run_command(["affinity", "plan", *words, "--out", out]) == 0
    capsys.readouterr()
    assert run_command(["affinity", "explain", out, "--from", source, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["planned"]["score"] == pytest.approx(json.loads(Path(out).read_text())["score"])
    assert found["planned"]["score"] <= found["rule"]["score"]
    assert run_command(["affinity", "explain", out, "--from", source]) == 0
    assert "guest/iothread/1" in capsys.readouterr().out
    key = found["threads"][0]["key"]
    cpu = found["threads"][0]["planned"]["cpu"]
    move = ["affinity", "explain", out, "--from", source, "--move", f"{key}={cpu}"]
    assert run_command(move) == 0
    assert "the score changes by +0.00" in capsys.readouterr().out


def test_policies_are_of_threads_or_of_guests(capsys: pytest.CaptureFixture[str]) -> None:
    source = str(MACHINES / NAMES[-1])
    words = ["affinity", "plan", "--from", source, "--vcpus", "2", "--json", "--policy"]
    assert run_command([*words, "slides"]) == 2
    assert run_command([*words, "rule"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] is None
    idle = host(machine(), nvme(40, 1), threads=(thread(7, ThreadRole.STORAGE),))
    assert plan_host(idle, asked(2)).placement.score is not None
