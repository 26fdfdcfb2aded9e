"""HSph-like runs as lines in a file of results, and results of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vas_bench.hsph import metric
from vas_bench.hsph.metric import NOT_TPC, PHASES, HsphResult
from vas_bench.hsph.phases import Timed
from vas_bench.hsph.price import PriceList
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.results.record import BenchRun, make_run
from vas_bench.run.experiments import Identity

# Reports show it wherever they name the workload.
WORKLOAD = "HSph-like, not a TPC result"
CHECK = "data checks, TeraValidate and its checksum"
_SCALE = "scale_factor"
_CONDITIONS = {
    "metric": NOT_TPC,
    "between_runs": "files are removed, nothing else",
}
_THREE = "TPCx-HS asks for three, or for their like"


def session_id(began: str, number: int) -> str:
    """The id of a session's first or second run."""
    return f"hsph-{began}-{number}"


def recorded(identity: Identity, scale_factor: float, timed: Timed, **others: Any) -> BenchRun:
    """A run's line; `others` are further fields of it. Raises BadInput as `metric.HsphRun`."""
    fields = identity.fields | {"workload": WORKLOAD}
    fields["parameters"] = {_SCALE: scale_factor, **fields["parameters"]}
    # Nothing here knows what a site's Lustre lies on.
    copies = "the site's own" if "site" in fields["configuration"] else "one copy of everything"
    fields["configuration"] |= _CONDITIONS | {"redundancy": f"{copies}; {_THREE}"}
    run = metric.HsphRun(scale_factor, timed.total_seconds, timed.phase_seconds)
    measures = {JOB_SECONDS: run.total_seconds, "hsph": run.hsph, **others.pop("measures", {})}
    if timed.joules is not None:
        measures["energy_joules"] = timed.joules
    return make_run(**fields, measures=measures, phases=timed.phase_seconds, **others)


def result_of(first: BenchRun, second: BenchRun, prices: PriceList | None = None) -> HsphResult:
    """The result of two lines. Raises BadInput if they differ in more than their times."""
    hosts = first.parameters["hosts"]
    name = f"{first.system} on {hosts} hosts, {first.time:%Y-%m-%d %H:%M}"
    return HsphResult(name, _run_of(first), _run_of(second), prices)


def results_of(
    runs: Iterable[BenchRun], prices: PriceList | None = None
) -> tuple[list[HsphResult], list[BenchRun]]:
    """All results of a file, oldest first, and the runs that lack their second or do not count."""
    sessions: dict[str, list[BenchRun]] = {}
    for run in runs:
        if run.workload == WORKLOAD:
            sessions.setdefault(run.id.rpartition("-")[0], []).append(run)
    whole = [pair for pair in sessions.values() if len(pair) == 2 and all(r.counts for r in pair)]
    rest = [run for found in sessions.values() if found not in whole for run in found]
    return [result_of(first, second, prices) for first, second in whole], rest


def _run_of(run: BenchRun) -> metric.HsphRun:
    scale = run.parameters[_SCALE]
    assert isinstance(scale, int | float), "recorded() made it a number"
    return metric.HsphRun(
        scale_factor=scale,
        total_seconds=run.measures[JOB_SECONDS],
        phase_seconds={phase: run.phases[phase] for phase in PHASES},
        configuration=run.configuration_hash,
        joules=run.measures.get("energy_joules"),
    )
