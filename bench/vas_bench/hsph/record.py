"""Writes HSph-like runs as lines of a file of results, and makes results of two lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vas_bench.engine.observe import Observation
from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.metric import NOT_TPC, PHASES, HsphResult, HsphRun
from vas_bench.hsph.price import PriceList
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.results.record import BenchRun, Parameter, Validation
from vas_bench.run.experiments import Experiment
from vas_yarn.jobs.systems import System

# Reports show it wherever they name the workload.
WORKLOAD = "HSph-like, not a TPC result"
CHECK = "data checks, TeraValidate and its checksum"
_SCALE = "scale_factor"
_CONDITIONS = {
    "metric": NOT_TPC,
    "between_runs": "files are removed, nothing else",
}
_THREE = "TPCx-HS asks for three, or for their like"


@dataclass(frozen=True)
class HsphSubject:
    """The five phases on a system, at a scale factor."""

    experiment: Experiment
    scale_factor: float
    workload: str = WORKLOAD
    title: str = WORKLOAD
    site: object = None

    @property
    def system(self) -> System:
        """The system that every phase runs on."""
        return self.experiment.system

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The scale factor, and the parameters of the experiment."""
        return {_SCALE: self.scale_factor, **self.experiment.parameters}


def hsph_identity(
    identity: RunIdentity[Experiment], scale_factor: float
) -> RunIdentity[HsphSubject]:
    """Returns the identity of both runs, with the conditions that the metric has."""
    # Nothing here knows what a site's Lustre lies on.
    copies = "the site's own" if "site" in identity.configuration else "one copy of everything"
    conditions = _CONDITIONS | {"redundancy": f"{copies}; {_THREE}"}
    subject = HsphSubject(identity.experiment, scale_factor)
    return RunIdentity(subject, {**identity.configuration, **conditions}, identity.versions)


def observed(run: HsphRun, cpu_seconds: float, checksum: str) -> Observation:
    """Returns a run's measures and phases, with its CPU seconds if they are known, above 0."""
    measures = {JOB_SECONDS: run.total_seconds, "hsph": run.hsph}
    if cpu_seconds:
        measures["cpu_seconds"] = cpu_seconds
    if run.joules is not None:
        measures["energy_joules"] = run.joules
    validation = Validation(ok=True, check=CHECK, checksum=checksum)
    return Observation(measures, run.phase_seconds, validation=validation)


def result_of(first: BenchRun, second: BenchRun, prices: PriceList | None = None) -> HsphResult:
    """Returns the result of two lines. Raises BadInput if they differ in more than their times."""
    hosts = first.parameters["hosts"]
    name = f"{first.system} on {hosts} hosts, {first.time:%Y-%m-%d %H:%M}"
    return HsphResult(name, _run_of(first), _run_of(second), prices)


def results_of(
    runs: Iterable[BenchRun], prices: PriceList | None = None
) -> tuple[list[HsphResult], list[BenchRun]]:
    """Returns all results of a file, oldest first, and the runs that are part of none."""
    sessions = sessions_of(run for run in runs if run.workload == WORKLOAD)
    whole = [pair for pair in sessions if is_whole(pair)]
    rest = [run for found in sessions if found not in whole for run in found]
    return [result_of(first, second, prices) for first, second in whole], rest


def sessions_of(runs: Iterable[BenchRun]) -> list[list[BenchRun]]:
    """Returns the runs by session: both runs of one have an id that begins `hsph-BEGAN`."""
    sessions: dict[str, list[BenchRun]] = {}
    for run in runs:
        sessions.setdefault("-".join(run.id.split("-")[:2]), []).append(run)
    return list(sessions.values())


def is_whole(pair: list[BenchRun]) -> bool:
    """Tells whether these runs of one session are two that count."""
    return len(pair) == 2 and all(run.counts for run in pair)


def _run_of(run: BenchRun) -> HsphRun:
    scale = run.parameters[_SCALE]
    assert isinstance(scale, int | float), "hsph_identity() made it a number"
    return HsphRun(
        scale_factor=scale,
        total_seconds=run.measures[JOB_SECONDS],
        phase_seconds={phase: run.phases[phase] for phase in PHASES},
        configuration=run.configuration_hash,
        joules=run.measures.get("energy_joules"),
    )
