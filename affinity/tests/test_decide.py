"""The daemon's decisions: the table of docs/affinityd.md row by row, and what holds for any run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_affinity.daemon.decide import (
    DaemonAction,
    DaemonDecision,
    DaemonObservation,
    DaemonState,
    Offer,
    Trial,
    decide,
)
from vas_affinity.daemon.settings import AffinitySettings, BetterWhen, Valve
from vas_affinity.placement import HostPlacement

A, B = HostPlacement(host="a"), HostPlacement(host="b")
PLAIN = AffinitySettings(hold_seconds=60, settle_seconds=300, moves_per_hour=2, repairs=2)
VALVE = Valve.model_validate(
    {"file": "x", "better": "higher", "window_seconds": 100, "hold_off_seconds": 1000}
)
WATCHED = PLAIN.model_copy(update={"valve": VALVE})
IN_FORCE = DaemonState(in_force=A, asked=A)
GOOD = tuple((t, 100.0) for t in (900.0, 950.0, 990.0))
ON_TRIAL = DaemonState(
    in_force=B, previous=A, asked=A, trial=Trial(1000, 100), moves=(1000,), samples=GOOD
)
BETTER = Offer(B, gain=9, cost=2)


def seen(now: float = 1000, **rest: object) -> DaemonObservation:
    return replace(DaemonObservation(now=now), **rest)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    state: DaemonState
    seen: DaemonObservation
    action: DaemonAction
    why: str
    settings: AffinitySettings = PLAIN


def trial(*samples: float, now: float = 1050) -> DaemonState:
    """B on trial since 1000, with what the metric was since; the last one is at `now`."""
    later = tuple((now - len(samples) + 1 + i, value) for i, value in enumerate(samples))
    return replace(ON_TRIAL, samples=(*GOOD, *later))


ROWS = [
    Row(trial(80, 80, 80), seen(1051), DaemonAction.REVERT, "from 100 to 80", WATCHED),
    Row(trial(80, 80, 80), seen(1051, drift=3), DaemonAction.REVERT, "from 100 to 80", WATCHED),
    Row(trial(95, 95, 95), seen(1051), DaemonAction.WAIT, "nothing better", WATCHED),
    Row(trial(80, 80), seen(1051, metric=100.0), DaemonAction.REVERT, "to 80", WATCHED),
    Row(trial(80), seen(1051), DaemonAction.WAIT, "nothing better", WATCHED),
    Row(trial(80), seen(1100), DaemonAction.REVERT, "fell silent", WATCHED),
    Row(IN_FORCE, seen(drift=1), DaemonAction.REPAIR, "by others: 1"),
    Row(trial(95, 95, 95), seen(1051, drift=1), DaemonAction.REPAIR, "by others: 1", WATCHED),
    Row(replace(IN_FORCE, repairs=(900, 950)), seen(drift=1), DaemonAction.WAIT, "insists"),
    Row(replace(IN_FORCE, repairs=(100, 200)), seen(drift=1), DaemonAction.REPAIR, "by others: 1"),
    Row(DaemonState(), seen(drift=1), DaemonAction.WAIT, "nothing better"),
    Row(IN_FORCE, seen(), DaemonAction.WAIT, "nothing better"),
    Row(IN_FORCE, seen(offer=Offer(A)), DaemonAction.WAIT, "nothing better"),
    Row(DaemonState(), seen(offer=Offer(A)), DaemonAction.MOVE, "asked for"),
    Row(IN_FORCE, seen(offer=Offer(B)), DaemonAction.MOVE, "asked for"),
    Row(DaemonState(), seen(offer=Offer(A)), DaemonAction.WAIT, "not known yet", WATCHED),
    Row(DaemonState(samples=GOOD), seen(offer=Offer(A)), DaemonAction.MOVE, "asked for", WATCHED),
    Row(
        DaemonState(samples=GOOD),
        seen(1200, offer=Offer(A)),
        DaemonAction.WAIT,
        "not known yet",
        WATCHED,
    ),
    Row(DaemonState(held_off_until=1001), seen(offer=Offer(A)), DaemonAction.WAIT, "held off"),
    Row(DaemonState(held_off_until=1000), seen(offer=Offer(A)), DaemonAction.MOVE, "asked for"),
    Row(DaemonState(moves=(1, 2)), seen(offer=Offer(A)), DaemonAction.WAIT, "enough moves"),
    Row(DaemonState(moves=(1, 2)), seen(3602, offer=Offer(A)), DaemonAction.MOVE, "asked for"),
    Row(trial(95, 95, 95), seen(1051, offer=Offer(A)), DaemonAction.WAIT, "on trial", WATCHED),
    Row(trial(95, 95, 95), seen(1101, offer=Offer(A)), DaemonAction.MOVE, "asked for", WATCHED),
    Row(IN_FORCE, seen(offer=BETTER, busy=0.01), DaemonAction.WAIT, "too idle"),
    Row(IN_FORCE, seen(offer=Offer(B, 3.9, 2)), DaemonAction.WAIT, "does not pay"),
    Row(IN_FORCE, seen(offer=Offer(B, 0, 0)), DaemonAction.WAIT, "does not pay"),
    Row(IN_FORCE, seen(offer=BETTER), DaemonAction.WAIT, "for long?"),
    Row(replace(IN_FORCE, better_since=950), seen(offer=BETTER), DaemonAction.WAIT, "for long?"),
    Row(
        replace(IN_FORCE, better_since=940),
        seen(offer=BETTER),
        DaemonAction.MOVE,
        "gains 9 for 2",
    ),
    Row(
        replace(IN_FORCE, better_since=940, moves=(701,)),
        seen(offer=BETTER), DaemonAction.WAIT, "settles",
    ),
    Row(
        replace(IN_FORCE, better_since=940, moves=(700,)),
        seen(offer=BETTER), DaemonAction.MOVE, "gains",
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_the_table(row: Row) -> None:
    found = decide(row.state, row.seen, row.settings)
    assert (found.action, row.why in found.why) == (row.action, True), found.why


def test_what_does_not_pay_any_more_begins_anew() -> None:
    waiting = decide(IN_FORCE, seen(offer=BETTER), PLAIN).state
    assert waiting.better_since == 1000
    gone = decide(waiting, seen(1030), PLAIN).state
    assert gone.better_since is None
    assert decide(gone, seen(1061, offer=BETTER), PLAIN).action is DaemonAction.WAIT


def test_a_revert_gives_back_the_plan_before_and_doubles_the_hold_off() -> None:
    first = decide(trial(80, 80, 80), seen(1051), WATCHED).state
    assert (first.in_force, first.asked, first.previous, first.trial) == (A, A, None, None)
    assert first.held_off_until == 2051
    again = replace(trial(80, 80, 80), reverts=1)
    assert decide(again, seen(1051), WATCHED).state.held_off_until == 3051
    often = replace(trial(80, 80, 80), reverts=1000)
    assert decide(often, seen(1051), WATCHED).state.held_off_until == 1051 + 86400


def test_a_plan_that_was_asked_for_and_hurt_is_not_in_force_any_more() -> None:
    first = replace(trial(80, 80, 80), in_force=A, previous=None)
    after = decide(first, seen(1051), WATCHED).state
    assert (after.in_force, after.asked) == (None, None)


def test_so_is_one_in_which_new_threads_took_the_places_of_ended_ones() -> None:
    asked = decide(DaemonState(samples=GOOD), seen(offer=Offer(A)), WATCHED).state
    assert asked.in_force == A
    later = replace(asked, in_force=B, samples=trial(80, 80, 80).samples, trial=Trial(1000, 100))
    after = decide(later, seen(1051), WATCHED).state
    assert (after.in_force, after.asked) == (None, None)


def test_a_passed_trial_ends_and_forgives() -> None:
    after = decide(replace(trial(95, 95, 95, now=1100), reverts=2), seen(1101), WATCHED).state
    assert (after.trial, after.reverts, after.in_force) == (None, 0, B)


def test_a_trial_without_its_valve_is_over() -> None:
    """The settings lost it while the daemon was stopped: nothing else would end the trial."""
    decision = decide(ON_TRIAL, seen(1051, offer=Offer(A)), PLAIN)
    assert (decision.action, decision.state.in_force) == (DaemonAction.MOVE, A)


def test_latency_is_better_lower() -> None:
    lower = VALVE.model_copy(update={"better": BetterWhen.LOWER})
    settings = PLAIN.model_copy(update={"valve": lower})
    assert decide(trial(120, 120, 120), seen(1051), settings).action is DaemonAction.REVERT
    assert decide(trial(80, 80, 80), seen(1051), settings).action is DaemonAction.WAIT


@st.composite
def runs(draw: st.DrawFn) -> list[DaemonObservation]:
    """A host for a while: time goes on, anything may be seen."""
    found, now = [], 0.0
    offers = st.none() | st.builds(
        Offer, st.sampled_from([A, B]), st.none() | st.floats(-5, 20), st.floats(0, 5)
    )
    for _ in range(draw(st.integers(1, 30))):
        now += draw(st.floats(1, 120))
        found.append(
            DaemonObservation(
                now=now,
                drift=draw(st.integers(0, 2)),
                offer=draw(offers),
                metric=draw(st.none() | st.floats(1, 200)),
                busy=draw(st.floats(0, 1)),
            )
        )
    return found


def _decisions(
    run: list[DaemonObservation], settings: AffinitySettings
) -> list[tuple[DaemonState, DaemonObservation, DaemonDecision]]:
    state, found = DaemonState(), []
    for one in run:
        decision = decide(state, one, settings)
        found.append((state, one, decision))
        state = decision.state
    return found


@pytest.mark.unhurried
@settings(max_examples=50)
@given(runs())
def test_what_holds_for_any_run(run: list[DaemonObservation]) -> None:
    plain, watched = _decisions(run, PLAIN), _decisions(run, WATCHED)
    for steps, with_these in ((plain, PLAIN), (watched, WATCHED)):
        _never_more_than_allowed(steps, with_these)
        _taken_only_if_it_pays(steps, with_these)
    assert all(decision.action is not DaemonAction.REVERT for _, _, decision in plain)
    _nothing_moves_on_trial_or_while_held_off(watched)
    last = watched[-1][2].state
    oldest = run[-1].now - 2 * VALVE.window_seconds
    assert all(at >= oldest for at, _ in last.samples)


_Steps = list[tuple[DaemonState, DaemonObservation, DaemonDecision]]


def _never_more_than_allowed(steps: _Steps, settings: AffinitySettings) -> None:
    for action, most, within in (
        (DaemonAction.MOVE, settings.moves_per_hour, 3600.0),
        (DaemonAction.REPAIR, settings.repairs, settings.repair_seconds),
    ):
        times = [one.now for _, one, decision in steps if decision.action is action]
        for at in times:
            assert sum(at - within < other <= at for other in times) <= most, action


def _taken_only_if_it_pays(steps: _Steps, settings: AffinitySettings) -> None:
    for _, one, decision in steps:
        if decision.action is DaemonAction.MOVE and one.offer and one.offer.gain is not None:
            assert one.offer.gain >= settings.gain_over_cost * one.offer.cost
            assert one.busy >= settings.least_busy


def _nothing_moves_on_trial_or_while_held_off(steps: _Steps) -> None:
    held_off = 0.0
    for before, one, decision in steps:
        if decision.action is DaemonAction.MOVE:
            assert one.now >= held_off
            assert before.trial is None or one.now - before.trial.since >= VALVE.window_seconds
            assert decision.state.trial is not None
        if decision.action is DaemonAction.REVERT:
            assert before.trial is not None
            assert decision.state.in_force == before.previous
            held_off = decision.state.held_off_until
