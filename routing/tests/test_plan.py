"""Plans: what is there stays, what is new comes first, what is left is taken away."""

from __future__ import annotations

import json

from walk import all_up

from vas_routing.desired import DesiredState
from vas_routing.plan import ChangeKind, CurrentState, RouteChange, plan


def found(desired: DesiredState, **originals: str) -> CurrentState:
    """A node that has everything of a desired state."""
    sysctls = {sysctl.name: sysctl.value for sysctl in desired.sysctls}
    return CurrentState(
        addresses=desired.addresses,
        added=desired.addresses,
        rules=desired.rules,
        routes=desired.routes,
        proxies=desired.proxies,
        sysctls=sysctls,
        originals=originals,
    )


def test_what_is_there_stays() -> None:
    desired = all_up(sriov_vm1=False).desired_state("oss1")
    assert plan(found(desired), desired) == []


def test_what_is_desired_is_found_afterwards() -> None:
    steps = plan(CurrentState(), all_up().desired_state("vm1"))
    kinds = [type(step.thing).__name__ for step in steps]
    # A table that is asked before it is filled would lose packets; so would a strict rp_filter.
    assert kinds.index("Sysctl") < kinds.index("OwnAddress") < kinds.index("Route")
    assert kinds.index("Route") < kinds.index("PolicyRule")
    assert {step.action for step in steps} == {ChangeKind.SET, ChangeKind.ADD}


def test_a_way_is_taken_away_after_the_new_one_is_there() -> None:
    steps = plan(
        found(all_up(sriov_vm1=False).desired_state("vm1")),
        all_up(virtio_vm1=False).desired_state("vm1"),
    )
    assert {step.action for step in steps} == {ChangeKind.REMOVE}
    both = plan(
        found(all_up(sriov_vm1=False).desired_state("oss1")), all_up().desired_state("oss1")
    )
    assert [(step.action, type(step.thing).__name__) for step in both] == [
        (ChangeKind.REMOVE, "Proxy")
    ]


def test_a_sysctl_that_is_no_longer_desired_is_as_it_was() -> None:
    name = "net/ipv4/conf/pf0/forwarding"
    has = found(all_up(sriov_vm1=False).desired_state("oss1"), **{name: "0"})
    steps = plan(has, all_up().desired_state("oss1"))
    assert [step.as_json() for step in steps if step.action is ChangeKind.RESTORE] == [
        {
            "action": "restore",
            "kind": "sysctl",
            "name": name,
            "value": "0",
            "before": "1",
            "reason": "no longer desired: restored to the value before VAS",
        }
    ]


def test_steps_are_json() -> None:
    steps: list[RouteChange] = plan(CurrentState(), all_up().desired_state("vm1"))
    rows = json.loads(json.dumps([step.as_json() for step in steps]))
    assert {row["kind"] for row in rows} == {"sysctl", "address", "route", "rule"}
    assert all(row["reason"] for row in rows)
