"""The daemon's one thread: looks, decides, acts; the kernel's events, signals, changed files."""

from __future__ import annotations

import logging
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from vas_affinity.apply.host import Host
from vas_affinity.apply.outcome import Outcome, Verdict
from vas_affinity.daemon.decide import Action, Decision, Offer, Seen, State, decide
from vas_affinity.daemon.disturbances import Disturbances
from vas_affinity.daemon.load import Load
from vas_affinity.daemon.memory import check_state, read_memory, write_memory
from vas_affinity.daemon.metrics import Metrics
from vas_affinity.daemon.planner import Planner
from vas_affinity.daemon.settings import Settings
from vas_affinity.daemon.told import Told
from vas_affinity.daemon.valve import Meter
from vas_affinity.placement import Placement
from vas_core.errors import VasError
from vas_core.inforce import InForce
from vas_core.notify import notify
from vas_core.signals import Signals

log = logging.getLogger("vas-affinityd")
_TICK_SECONDS = 0.5
_SETTLE_SECONDS = 0.2


@dataclass
class Given:
    """The host, planner and settings that the daemon made from one reading of its files."""

    host: Host
    planner: Planner
    settings: Settings


class Daemon:
    """Runs one host by what `told` reads, or kept. Raises what its `start` raises."""

    def __init__(
        self, told: InForce[Told], given_of: Callable[[Told], Given], metrics: Metrics
    ) -> None:
        self._told, self._given_of, self._metrics = told, given_of, metrics
        self._first = told.start(self._use)
        self._meter = self._new_meter()
        self._load_of_cpus = Load(self._given.host.knobs.root)
        self._state = read_memory(self._given.host.state) or self._first_state()
        self._said: tuple[Action, str] | None = None
        self._check_at = 0.0

    def run(self) -> None:
        """Returns at SIGTERM or SIGINT; everything stays where it is.

        Raises VasError where it could not keep what the values were before.
        """
        check_state(self._given.host.state)
        if self._told.is_current:
            self._told.keep(self._first)
        selector = selectors.DefaultSelector()
        signals, disturbances = Signals(selector), Disturbances()
        told: Callable[[], None] = lambda: self._on_told(disturbances)  # noqa: E731
        for opened in (disturbances.links, disturbances.devices):
            selector.register(opened, selectors.EVENT_READ, told)
        notify("READY=1")
        while not signals.stop:
            for key, _ in selector.select(_TICK_SECONDS):
                key.data()
            if signals.take_reload() or self._told.is_due(time.monotonic()):
                self._read_again()
            if time.monotonic() >= self._check_at:
                self._check_at = time.monotonic() + self._given.settings.check_seconds
                self.step(time.monotonic())
            notify("WATCHDOG=1")
        notify("STOPPING=1")
        disturbances.close()

    def step(self, now: float) -> None:
        """Looks once, and does what is decided. What fails is logged and counted, whatever it is:
        a daemon that ends puts nothing right."""
        try:
            decision = decide(self._state, self._look(now), self._given.settings)
            self._act(decision)
        except Exception as wrong:
            self._metrics.failures.labels("step").inc()
            trace = None if isinstance(wrong, VasError | OSError) else wrong
            log.error("failed", extra={"what": str(wrong)}, exc_info=trace)

    def _look(self, now: float) -> Seen:
        busy = self._load_of_cpus.busy()
        self._metrics.busy.set(busy)
        return Seen(
            now=now,
            drift=self._drift(),
            offer=self._offer(now),
            metric=self._metric(now),
            busy=busy,
        )

    def _drift(self) -> int:
        plan = self._state.in_force
        found = [] if plan is None else self._given.host.verify(plan)
        self._metrics.observe(found)
        drift = sum(outcome.verdict is Verdict.DIFFERENT for outcome in found)
        self._metrics.drift.inc(drift)
        return drift

    def _offer(self, now: float) -> Offer | None:
        try:
            return self._given.planner.offer(self._state, now)
        except VasError as wrong:
            self._metrics.failures.labels("planner").inc()
            log.error("no plan", extra={"what": str(wrong)})
            return None

    def _metric(self, now: float) -> float | None:
        if self._meter is None:
            return None
        try:
            value = self._meter.read(now)
        except VasError as wrong:
            self._metrics.failures.labels("valve").inc()
            log.error("no metric", extra={"what": str(wrong)})
            return None
        self._metrics.valve.set(float("nan") if value is None else value)
        return value

    def _act(self, decision: Decision) -> None:
        """What fails is not remembered as done: the next step decides anew."""
        self._metrics.decisions.labels(decision.action.value).inc()
        after = decision.state
        if decision.action is not Action.WAIT:
            self._say(decision, self._make(after.in_force))
        elif self._said != (decision.action, decision.why):
            log.info(decision.action.value, extra={"why": decision.why})
        self._said = (decision.action, decision.why)
        self._state = after
        write_memory(self._given.host.state, after)
        self._metrics.in_force.set(after.in_force is not None)
        self._metrics.on_trial.set(after.trial is not None)
        self._metrics.held_off.set(time.monotonic() < after.held_off_until)

    def _make(self, plan: Placement | None) -> list[Outcome]:
        host = self._given.host
        return host.rollback() if plan is None else host.apply(plan)

    def _say(self, decision: Decision, outcomes: list[Outcome]) -> None:
        done = [o for o in outcomes if o.verdict in (Verdict.CHANGED, Verdict.RESTORED)]
        extra = {"why": decision.why, "values": len(done), "of": len(outcomes)}
        log.warning(decision.action.value, extra=extra)
        for outcome in outcomes:
            if outcome.verdict in (Verdict.FAILED, Verdict.DIFFERENT):
                self._metrics.failures.labels("value").inc()
                log.error(outcome.verdict.value, extra={"what": outcome.what, "why": outcome.why})

    def _first_state(self) -> State:
        """With the file's plan, if it is true already: then nothing is moved or put on trial."""
        plan = self._given.planner.asked
        try:
            found = self._given.host.plan(plan)
        except VasError as wrong:
            log.error("failed", extra={"what": str(wrong)})
            return State()
        to_do = (Verdict.DIFFERENT, Verdict.TO_RESTORE, Verdict.FAILED)
        is_true = not any(outcome.verdict in to_do for outcome in found)
        return State(in_force=plan, asked=plan) if is_true else State()

    def _on_told(self, disturbances: Disturbances) -> None:
        if disturbances.heard():
            self._check_at = min(self._check_at, time.monotonic() + _SETTLE_SECONDS)

    def _read_again(self) -> None:
        notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
        self._told.note_reading()
        before = self._given
        try:
            told = self._told.load()
            self._use(told)
        except Exception as wrong:  # whatever it is: what is in force is still to be kept true
            self._told.refused(wrong)
        else:
            self._take_valve(before.settings)
            self._told.took()
            self._told.keep(told)
            log.info("read again")
        notify("READY=1")

    def _use(self, told: Told) -> None:
        self._given = self._given_of(told)

    def _take_valve(self, before: Settings) -> None:
        if before.valve != self._given.settings.valve:
            self._meter = self._new_meter()
            self._state = replace(self._state, samples=(), trial=None)
        self._check_at = 0.0

    def _new_meter(self) -> Meter | None:
        valve = self._given.settings.valve
        return Meter(valve) if valve else None
