"""The loop of `vas-affinityd`: observes, decides and acts in one thread.

Another thread, `arrivals.placer`, places the threads that appear between two steps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.arrivals.placer import ArrivalPlacer
from vas_affinity.arrivals.processes import PlanProcesses
from vas_affinity.arrivals.shared import SharedPlan
from vas_affinity.arrivals.way import NoticeWay
from vas_affinity.daemon.decide import (
    DaemonAction,
    DaemonDecision,
    DaemonObservation,
    DaemonState,
    Offer,
    decide,
)
from vas_affinity.daemon.disturbances import Disturbances
from vas_affinity.daemon.inputs import DaemonInputs
from vas_affinity.daemon.load import Load
from vas_affinity.daemon.metrics import AffinityMetrics, FailurePlace
from vas_affinity.daemon.planner import Planner
from vas_affinity.daemon.saved_state import check_state, read_state, write_state
from vas_affinity.daemon.settings import AffinitySettings
from vas_affinity.daemon.valve import ValveMeter
from vas_affinity.placement import HostPlacement
from vas_core.daemon_shell import DaemonShell
from vas_core.errors import VasError
from vas_core.inforce import InForce
from vas_core.notify import notify

log = logging.getLogger("vas-affinityd")
_TICK_SECONDS = 0.5
_SETTLE_SECONDS = 0.2


@dataclass
class DaemonConfig:
    """The host, planner and settings that the daemon makes from one reading of its files."""

    host: LocalHost
    planner: Planner
    settings: AffinitySettings
    patterns: tuple[str, ...] = ()
    """The processes whose threads the planner places."""


class AffinityDaemon:
    """Keeps one host as the plan in `files` says; `config_of` makes the config of their content.

    Raises what `files.start` raises if neither the files nor the kept ones can be used.
    """

    def __init__(
        self,
        files: InForce[DaemonInputs],
        config_of: Callable[[DaemonInputs], DaemonConfig],
        metrics: AffinityMetrics,
    ) -> None:
        self._files, self._config_of, self._metrics = files, config_of, metrics
        self._shell = DaemonShell(files)
        self._first = files.start(self._use)
        self._meter = self._new_meter()
        self._load_of_cpus = Load(self._config.host.settings.root)
        self._state = read_state(self._config.host.state) or self._first_state()
        self._shared = SharedPlan()
        self._placer: ArrivalPlacer | None = None
        self._logged: tuple[DaemonAction, str] | None = None
        self._check_at = 0.0

    def run(self) -> None:
        """Runs until SIGTERM or SIGINT; leaves every thread and interrupt where it is.

        Raises VasError if the directory of the journal cannot be written.
        """
        check_state(self._config.host.state)
        if self._files.is_current:
            self._files.keep(self._first)
        disturbances = Disturbances()
        for opened in (disturbances.links, disturbances.devices):
            self._shell.watch(opened, lambda: self._on_disturbance(disturbances))
        self._start_placer()
        self._shell.run(self._on_tick, self._reload, lambda: _TICK_SECONDS)
        disturbances.close()
        self._stop_placer()

    def step(self, now: float) -> None:
        """Observes once and does what is decided.

        Any failure is logged and counted, whatever it is: a daemon that ends repairs nothing.
        """
        try:
            seen = self._observe(now)
            with self._shared.lock:
                seen = self._take_new_threads(seen)
                try:
                    self._act(decide(self._state, seen, self._config.settings))
                finally:
                    self._publish(now)
        except Exception as wrong:
            self._metrics.failures.labels(FailurePlace.STEP).inc()
            trace = None if isinstance(wrong, VasError | OSError) else wrong
            log.error("failed", extra={"what": str(wrong)}, exc_info=trace)

    def _take_new_threads(self, seen: DaemonObservation) -> DaemonObservation:
        """Takes the plan in force with the threads placed since the last step, into offers too."""
        if self._shared.version:
            self._state = replace(self._state, in_force=self._shared.plan)
        offer = self._config.planner.adopt(self._shared.take())
        is_planned = seen.offer is not None and seen.offer.gain is not None
        return replace(seen, offer=offer) if is_planned else seen

    def _publish(self, now: float) -> None:
        is_held = now < self._state.held_off_until
        found = None if is_held else self._config.planner.found
        self._shared.publish(self._state.in_force, found.basis if found else None)

    def _start_placer(self) -> None:
        way = self._config.settings.new_threads
        if way == "none":
            return
        host = self._config.host
        own = LocalHost(host.state, HostSettings(host.settings.root))
        processes = PlanProcesses(host.settings.root, self._config.patterns)
        first, metrics = NoticeWay(way), self._metrics.arrivals
        self._placer = ArrivalPlacer(own, processes, self._shared, metrics, first)
        self._placer.start()

    def _stop_placer(self) -> None:
        if self._placer is not None:
            self._placer.stop()
            self._placer = None

    def _on_tick(self, now: float) -> None:
        if self._shell.is_reload_due(now):
            self._reload()
        if now >= self._check_at:
            self._check_at = now + self._config.settings.check_seconds
            self.step(now)
        notify("WATCHDOG=1")

    def _observe(self, now: float) -> DaemonObservation:
        busy = self._load_of_cpus.busy()
        self._metrics.busy.set(busy)
        return DaemonObservation(
            now=now,
            drift=self._drift(),
            offer=self._offer(now),
            metric=self._metric(now),
            busy=busy,
        )

    def _drift(self) -> int:
        plan = self._state.in_force
        found = [] if plan is None else self._config.host.verify(plan)
        self._metrics.observe(found)
        drift = sum(result.verdict is ApplyOutcome.DIFFERENT for result in found)
        self._metrics.drift.inc(drift)
        return drift

    def _offer(self, now: float) -> Offer | None:
        try:
            offer = self._config.planner.offer(self._state, now)
            self._metrics.observe_plan(self._config.planner.found)
            return offer
        except VasError as wrong:
            self._metrics.failures.labels(FailurePlace.PLANNER).inc()
            log.error("no plan", extra={"what": str(wrong)})
            return None

    def _metric(self, now: float) -> float | None:
        if self._meter is None:
            return None
        try:
            value = self._meter.read(now)
        except VasError as wrong:
            self._metrics.failures.labels(FailurePlace.VALVE).inc()
            log.error("no metric", extra={"what": str(wrong)})
            return None
        self._metrics.valve.set(float("nan") if value is None else value)
        return value

    def _act(self, decision: DaemonDecision) -> None:
        """Does what is decided. A failure leaves the state unchanged: the next step repeats it."""
        self._metrics.decisions.labels(decision.action.value).inc()
        after = decision.state
        if decision.action is not DaemonAction.WAIT:
            self._log_results(decision, self._apply(after.in_force))
        elif self._logged != (decision.action, decision.why):
            log.info(decision.action.value, extra={"why": decision.why})
        self._logged = (decision.action, decision.why)
        self._state = after
        write_state(self._config.host.state, after)
        self._metrics.in_force.set(after.in_force is not None)
        self._metrics.on_trial.set(after.trial is not None)
        self._metrics.held_off.set(time.monotonic() < after.held_off_until)

    def _apply(self, plan: HostPlacement | None) -> list[SettingResult]:
        host = self._config.host
        return host.rollback() if plan is None else host.apply(plan)

    def _log_results(self, decision: DaemonDecision, results: list[SettingResult]) -> None:
        written = (ApplyOutcome.CHANGED, ApplyOutcome.RESTORED)
        done = [result for result in results if result.verdict in written]
        extra = {"why": decision.why, "values": len(done), "of": len(results)}
        log.warning(decision.action.value, extra=extra)
        for result in results:
            if result.verdict in (ApplyOutcome.FAILED, ApplyOutcome.DIFFERENT):
                self._metrics.failures.labels(FailurePlace.VALUE).inc()
                log.error(result.verdict.value, extra={"what": result.what, "why": result.why})

    def _first_state(self) -> DaemonState:
        """Takes the file's plan as in force if it is applied already: then nothing has to move."""
        plan = self._config.planner.asked
        try:
            found = self._config.host.plan(plan)
        except VasError as wrong:
            log.error("failed", extra={"what": str(wrong)})
            return DaemonState()
        to_do = (ApplyOutcome.DIFFERENT, ApplyOutcome.TO_RESTORE, ApplyOutcome.FAILED)
        is_applied = not any(result.verdict in to_do for result in found)
        applied = DaemonState(in_force=plan, asked=plan, is_asked=True)
        return applied if is_applied else DaemonState()

    def _on_disturbance(self, disturbances: Disturbances) -> None:
        if disturbances.heard():
            self._check_at = min(self._check_at, time.monotonic() + _SETTLE_SECONDS)

    def _reload(self) -> None:
        self._shell.begin_reload()
        if self._shell.end_reload(self._load_and_use, self._files.keep):
            log.info("read again")

    def _load_and_use(self) -> DaemonInputs:
        before = self._config.settings
        inputs = self._files.load()
        self._use(inputs)
        self._take_valve(before)
        if before.new_threads != self._config.settings.new_threads:
            self._stop_placer()
            self._start_placer()
        return inputs

    def _use(self, inputs: DaemonInputs) -> None:
        self._config = self._config_of(inputs)

    def _take_valve(self, before: AffinitySettings) -> None:
        if before.valve != self._config.settings.valve:
            self._meter = self._new_meter()
            self._state = replace(self._state, samples=(), trial=None)
        self._check_at = 0.0

    def _new_meter(self) -> ValveMeter | None:
        valve = self._config.settings.valve
        return ValveMeter(valve) if valve else None
