"""What to do now: a pure function of what was, and of what is seen.

`docs/affinityd.md` has the same rules as a table, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from vas_affinity.daemon.settings import Better, Settings, Valve
from vas_affinity.placement import Placement

_HOUR_SECONDS = 3600.0
_LONGEST_HOLD_OFF_SECONDS = 86400.0


class Action(StrEnum):
    """What the daemon does."""

    WAIT = "wait"
    REPAIR = "repair"
    """The plan in force again, where others changed it."""
    MOVE = "move"
    """To the plan on offer."""
    REVERT = "revert"
    """To the plan before, or to what was before VAS."""


@dataclass(frozen=True)
class Offer:
    """A plan. `gain` and `cost` are in the score's units; a gain of None was asked for by a user:
    then it need not pay."""

    plan: Placement
    gain: float | None = None
    cost: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """An observation. `now` in seconds of a clock that never goes back; `busy` of all CPUs' time;
    `drift` the values that others changed; `metric` None where it could not be read."""

    now: float
    drift: int = 0
    offer: Offer | None = None
    metric: float | None = None
    busy: float = 1.0


@dataclass(frozen=True)
class Trial:
    """A move that is watched: what the metric was before."""

    since: float
    before: float


@dataclass(frozen=True, kw_only=True)
class State:
    """What the daemon remembers."""

    in_force: Placement | None = None
    asked: Placement | None = None
    """The last plan of a user that was taken, and not taken back."""
    previous: Placement | None = None
    better_since: float | None = None
    moves: tuple[float, ...] = ()
    repairs: tuple[float, ...] = ()
    samples: tuple[tuple[float, float], ...] = ()
    trial: Trial | None = None
    held_off_until: float = 0.0
    reverts: int = 0
    """In a row, each of which doubles the hold-off."""


@dataclass(frozen=True)
class Decision:
    """What to do, why, and what to remember once it is done."""

    action: Action
    why: str
    state: State


def decide(state: State, seen: Seen, settings: Settings) -> Decision:
    """One step. A move or a revert is taken for done: `state.in_force` is the plan after it."""
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


def _remember(state: State, seen: Seen, settings: Settings) -> State:
    """With the new sample, and without what is too old to matter."""
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


def _spoiled(state: State, trial: Trial, now: float, valve: Valve) -> str | None:
    """Why a move is to be taken back; None if it is not (yet)."""
    after = [value for at, value in state.samples if at > trial.since]
    if len(after) < valve.samples:
        over = now - trial.since >= valve.window_seconds
        return "the metric fell silent" if over else None
    found = median(after)
    worse = _is_worse(found, trial.before, valve)
    return f"the metric went from {trial.before:g} to {found:g}" if worse else None


def _is_worse(after: float, before: float, valve: Valve) -> bool:
    margin = valve.threshold * abs(before)
    if valve.better is Better.HIGHER:
        return after < before - margin
    return after > before + margin


def _revert(state: State, now: float, why: str, valve: Valve) -> Decision:
    longest = valve.hold_off_seconds * 2.0 ** min(state.reverts, 30)
    after = replace(
        state,
        in_force=state.previous,
        asked=None if state.asked == state.in_force else state.asked,
        previous=None,
        trial=None,
        better_since=None,
        held_off_until=now + min(longest, max(_LONGEST_HOLD_OFF_SECONDS, valve.hold_off_seconds)),
        reverts=state.reverts + 1,
    )
    return Decision(Action.REVERT, why, after)


def _repair(state: State, seen: Seen, settings: Settings) -> Decision:
    if len(state.repairs) >= settings.repairs:
        return Decision(Action.WAIT, "someone else insists", state)
    after = replace(state, repairs=(*state.repairs, seen.now))
    return Decision(Action.REPAIR, f"changed by others: {seen.drift}", after)


def _consider(state: State, seen: Seen, settings: Settings) -> Decision:
    """Whether the plan on offer is to be taken."""
    offer = seen.offer
    if offer is None or offer.plan == state.in_force:
        return Decision(Action.WAIT, "nothing better", replace(state, better_since=None))
    if reason := _does_not_pay(offer, seen, settings):
        return Decision(Action.WAIT, reason, replace(state, better_since=None))
    if state.better_since is None:
        state = replace(state, better_since=seen.now)
    reason = _not_yet(state, seen, settings)
    if reason:
        return Decision(Action.WAIT, reason, state)
    return _move(state, offer, seen.now, settings.valve)


def _does_not_pay(offer: Offer, seen: Seen, settings: Settings) -> str | None:
    if offer.gain is None:
        return None
    if seen.busy < settings.least_busy:
        return "too idle to tell"
    paid = offer.gain > 0 and offer.gain >= settings.gain_over_cost * offer.cost
    return None if paid else "it does not pay"


def _not_yet(state: State, seen: Seen, settings: Settings) -> str | None:
    """What keeps a plan that pays from being taken now."""
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


def _baseline(state: State, now: float, valve: Valve) -> float | None:
    """What the metric was in the window before now."""
    before = [value for at, value in state.samples if now - valve.window_seconds <= at <= now]
    return median(before) if len(before) >= valve.samples else None


def _move(state: State, offer: Offer, now: float, valve: Valve | None) -> Decision:
    before = _baseline(state, now, valve) if valve else None
    after = replace(
        state,
        in_force=offer.plan,
        asked=offer.plan if offer.gain is None else state.asked,
        previous=state.in_force,
        better_since=None,
        moves=(*state.moves, now),
        trial=None if before is None else Trial(now, before),
    )
    why = "asked for" if offer.gain is None else f"gains {offer.gain:g} for {offer.cost:g}"
    return Decision(Action.MOVE, why, after)
