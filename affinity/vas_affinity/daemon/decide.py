"""Decides the daemon's next action: a pure function of its state and an observation.

`docs/affinityd.md` has these rules as a table, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from vas_affinity.daemon.settings import AffinitySettings, BetterWhen, Valve
from vas_affinity.placement import HostPlacement

_HOUR_SECONDS = 3600.0
_LONGEST_HOLD_OFF_SECONDS = 86400.0


class DaemonAction(StrEnum):
    """An action of the daemon."""

    WAIT = "wait"
    REPAIR = "repair"
    """Applies the plan in force again, because others changed some values."""
    MOVE = "move"
    """Applies the plan on offer."""
    REVERT = "revert"
    """Applies the plan before, or restores the values from before VAS."""


@dataclass(frozen=True)
class Offer:
    """A plan that could be applied. `gain` and `cost` are in the score's units.

    A gain of None: a user asked for the plan, so it need not pay.
    """

    plan: HostPlacement
    gain: float | None = None
    cost: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DaemonObservation:
    """An observation of the host at one moment.

    `now` is in seconds of a clock that never goes back; `busy` is the share of all CPUs' time in
    use; `drift` counts the values that others changed; `metric` is None if it could not be read.
    """

    now: float
    drift: int = 0
    offer: Offer | None = None
    metric: float | None = None
    busy: float = 1.0


@dataclass(frozen=True)
class Trial:
    """A move on trial: when it was made, and the metric before it."""

    since: float
    before: float


@dataclass(frozen=True, kw_only=True)
class DaemonState:
    """The daemon's memory between its steps."""

    in_force: HostPlacement | None = None
    asked: HostPlacement | None = None
    """The last plan of a user that was applied and not reverted."""
    is_asked: bool = False
    """Whether the plan in force is `asked`, perhaps with other threads in place of ended ones."""
    previous: HostPlacement | None = None
    better_since: float | None = None
    moves: tuple[float, ...] = ()
    repairs: tuple[float, ...] = ()
    samples: tuple[tuple[float, float], ...] = ()
    trial: Trial | None = None
    held_off_until: float = 0.0
    reverts: int = 0
    """Number of reverts in a row; each doubles the hold-off."""


@dataclass(frozen=True)
class DaemonDecision:
    """An action, its reason, and the state to remember once it is done."""

    action: DaemonAction
    why: str
    state: DaemonState


def decide(
    state: DaemonState, seen: DaemonObservation, settings: AffinitySettings
) -> DaemonDecision:
    """Decides one step.

    The returned state is the one after the action: its `in_force` is the plan that is then applied.
    """
    state = _remember(state, seen, settings)
    if state.trial and settings.valve is None:
        state = replace(state, trial=None)  # the metric was taken out while the daemon was stopped
    if state.trial and settings.valve:
        spoiled = _spoiled(state, state.trial, seen.now, settings.valve)
        if spoiled:
            return _revert(state, seen.now, spoiled, settings.valve)
        if seen.now - state.trial.since >= settings.valve.window_seconds:
            state = replace(state, trial=None, reverts=0)
    if seen.drift and state.in_force:
        return _repair(state, seen, settings)
    return _consider(state, seen, settings)


def _remember(
    state: DaemonState, seen: DaemonObservation, settings: AffinitySettings
) -> DaemonState:
    """Adds the new sample, and drops what is too old to matter."""
    samples, now = state.samples, seen.now
    if settings.valve:
        oldest = now - 2 * settings.valve.window_seconds
        new = () if seen.metric is None else ((now, seen.metric),)
        samples = (*(s for s in samples if s[0] >= oldest), *new)
    return replace(
        state,
        samples=samples,
        moves=tuple(at for at in state.moves if at > now - _HOUR_SECONDS),
        repairs=tuple(at for at in state.repairs if at > now - settings.repair_seconds),
    )


def _spoiled(state: DaemonState, trial: Trial, now: float, valve: Valve) -> str | None:
    """Returns why a move must be reverted; None if it need not (yet)."""
    after = [value for at, value in state.samples if at > trial.since]
    if len(after) < valve.samples:
        over = now - trial.since >= valve.window_seconds
        return "the metric fell silent" if over else None
    found = median(after)
    worse = _is_worse(found, trial.before, valve)
    return f"the metric went from {trial.before:g} to {found:g}" if worse else None


def _is_worse(after: float, before: float, valve: Valve) -> bool:
    margin = valve.threshold * abs(before)
    if valve.better is BetterWhen.HIGHER:
        return after < before - margin
    return after > before + margin


def _revert(state: DaemonState, now: float, why: str, valve: Valve) -> DaemonDecision:
    longest = valve.hold_off_seconds * 2.0 ** min(state.reverts, 30)
    after = replace(
        state,
        in_force=state.previous,
        asked=None if state.is_asked or state.asked == state.in_force else state.asked,
        is_asked=False,
        previous=None,
        trial=None,
        better_since=None,
        held_off_until=now + min(longest, max(_LONGEST_HOLD_OFF_SECONDS, valve.hold_off_seconds)),
        reverts=state.reverts + 1,
    )
    return DaemonDecision(DaemonAction.REVERT, why, after)


def _repair(
    state: DaemonState, seen: DaemonObservation, settings: AffinitySettings
) -> DaemonDecision:
    if len(state.repairs) >= settings.repairs:
        return DaemonDecision(DaemonAction.WAIT, "someone else insists", state)
    after = replace(state, repairs=(*state.repairs, seen.now))
    return DaemonDecision(DaemonAction.REPAIR, f"changed by others: {seen.drift}", after)


def _consider(
    state: DaemonState, seen: DaemonObservation, settings: AffinitySettings
) -> DaemonDecision:
    """Decides whether to move to the plan on offer."""
    offer = seen.offer
    if offer is None or offer.plan == state.in_force:
        return DaemonDecision(
            DaemonAction.WAIT, "nothing better", replace(state, better_since=None)
        )
    if reason := _does_not_pay(offer, seen, settings):
        return DaemonDecision(DaemonAction.WAIT, reason, replace(state, better_since=None))
    if state.better_since is None:
        state = replace(state, better_since=seen.now)
    reason = _not_yet(state, seen, settings)
    if reason:
        return DaemonDecision(DaemonAction.WAIT, reason, state)
    return _move(state, offer, seen.now, settings.valve)


def _does_not_pay(offer: Offer, seen: DaemonObservation, settings: AffinitySettings) -> str | None:
    if offer.gain is None:
        return None
    if seen.busy < settings.least_busy:
        return "too idle to tell"
    paid = offer.gain > 0 and offer.gain >= settings.gain_over_cost * offer.cost
    return None if paid else "it does not pay"


def _not_yet(state: DaemonState, seen: DaemonObservation, settings: AffinitySettings) -> str | None:
    """Returns why a plan that pays is not applied yet; None if it can be."""
    now, asked = seen.now, seen.offer is not None and seen.offer.gain is None
    assert state.better_since is not None
    if state.trial:
        return "the last move is on trial"
    if now < state.held_off_until:
        return "held off"
    if not asked and now - state.better_since < settings.hold_seconds:
        return "is it better for long?"
    if not asked and state.moves and now - state.moves[-1] < settings.settle_seconds:
        return "the last move settles"
    if len(state.moves) >= settings.moves_per_hour:
        return "enough moves this hour"
    if settings.valve and _baseline(state, now, settings.valve) is None:
        return "the metric is not known yet"
    return None


def _baseline(state: DaemonState, now: float, valve: Valve) -> float | None:
    """Returns the median of the metric in the window before now; None if too few samples."""
    before = [value for at, value in state.samples if now - valve.window_seconds <= at <= now]
    return median(before) if len(before) >= valve.samples else None


def _move(state: DaemonState, offer: Offer, now: float, valve: Valve | None) -> DaemonDecision:
    before = _baseline(state, now, valve) if valve else None
    after = replace(
        state,
        in_force=offer.plan,
        asked=offer.plan if offer.gain is None else state.asked,
        is_asked=offer.gain is None,
        previous=state.in_force,
        better_since=None,
        moves=(*state.moves, now),
        trial=None if before is None else Trial(now, before),
    )
    why = "asked for" if offer.gain is None else f"gains {offer.gain:g} for {offer.cost:g}"
    return DaemonDecision(DaemonAction.MOVE, why, after)
