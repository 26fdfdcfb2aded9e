"""Measures calls of each algorithm on a real MPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vas_a2av.bench_plan import WITH_RADIX
from vas_a2av.building import MpiKind, build_for
from vas_a2av.launching import launch, launch_by
from vas_a2av.plot import TimeCurve, draw_times
from vas_a2av.real_cost import RealCost, costs_of
from vas_core.errors import BadInput
from vas_core.showing import each_shown
from vas_core.sizes import format_size

_TIMEOUT_SECONDS = 3600.0
_MICROSECOND = 1e-6
HEADER = (
    *("ALGORITHM", "RADIX", "SIZE B", "US", "ROUNDS US", "CPU US"),
    *("MESSAGES", "BLOCKS B", "LENGTHS B", "HELD B"),
)


@dataclass(frozen=True)
class RealCase:
    """Calls to measure on an MPI, whose ranks `launcher` starts, or its own launcher if empty.

    `calls`: in each round; 0 for as many as take about a tenth of a second. `node_ranks`: as
    VAS_A2AV_NODE_RANKS.
    """

    kind: MpiKind
    launcher: tuple[str, ...]
    ranks: int
    distribution: str
    calls: int
    seed: int
    node_ranks: int
    leaders: int
    rounds: int


def measure(
    case: RealCase, sizes: Sequence[int], algorithms: Sequence[str], radices: Sequence[int]
) -> list[RealCost]:
    """Runs the algorithms in turns, round by round, in one run for each size.

    Raises CommandFailed when a run fails or takes more than an hour.
    """
    program = build_for(case.kind, "bench") / "bench"
    arms = [
        f"{name}:{radix}"
        for name in algorithms
        for radix in (radices if name in WITH_RADIX else (2,))
    ]
    after = (case.calls, case.seed, case.leaders, case.rounds, case.node_ranks)

    def measured(size: int) -> list[RealCost]:
        words: list[str | Path] = [
            program,
            ",".join(arms),
            case.distribution,
            *map(str, (size, *after)),
        ]
        if case.launcher:
            done = launch_by(
                case.launcher, words, prints='{"algorithm"', timeout_seconds=_TIMEOUT_SECONDS
            )
        else:
            done = launch(case.kind, case.ranks, words, timeout_seconds=_TIMEOUT_SECONDS)
        return _of_several_ranks(costs_of(done.stdout))

    of_sizes = each_shown(
        sizes, lambda size: f"{case.rounds} rounds, {format_size(size)}", measured
    )
    return [cost for costs in of_sizes for cost in costs]


def _of_several_ranks(costs: list[RealCost]) -> list[RealCost]:
    """Returns the costs. Raises BadInput for those of one rank: each rank ran by itself then."""
    if costs[0].ranks > 1:
        return costs
    hint = "start two or more, by the launcher of the MPI that --mpi names"
    raise BadInput("started ranks that know of no other", where="--launcher", hint=hint)


def rows_of(costs: Sequence[RealCost]) -> list[tuple[str, ...]]:
    """Returns a row of the table for each cost."""
    return [
        (
            cost.algorithm if cost.algorithm != "auto" else f"auto ({cost.used})",
            str(cost.radix) if cost.algorithm in WITH_RADIX else "-",
            str(cost.size),
            *cost.spread("seconds").cells(_MICROSECOND, 1),
            f"{cost.cpu_seconds * 1e6:.1f}",
            *map(str, (cost.messages, cost.payload_bytes, cost.metadata_bytes, cost.scratch_bytes)),
        )
        for cost in costs
    ]


def heading(case: RealCase, costs: Sequence[RealCost]) -> str:
    """Returns a line that says where the calls ran, and what their times say nothing about."""
    ranks, machines = costs[0].ranks, costs[0].machines
    where = "one machine" if machines == 1 else f"{machines} machines"
    said = f"real: {case.kind.name}, {ranks} ranks on {where}"
    if costs[0].crowded:
        return f"{said}, more than it has cores: these times say nothing about a network"
    return f"{said}: no network was measured" if machines == 1 else said


def as_json(case: RealCase, sizes: Sequence[int], costs: Sequence[RealCost]) -> dict[str, Any]:
    """Returns what `--json` prints."""
    asked = {name: value for name, value in asdict(case).items() if name not in ("kind", "ranks")}
    where = {"ranks": costs[0].ranks, "machines": costs[0].machines, "crowded": costs[0].crowded}
    said = {"simulated": False, "mpi": case.kind.name, **where, **asked, "sizes": list(sizes)}
    return said | {"costs": [asdict(cost) for cost in costs]}


def plot(case: RealCase, costs: Sequence[RealCost]) -> str:
    """Returns an SVG of the times, by block size: a curve for each algorithm and radix."""
    points: dict[str, list[tuple[int, float]]] = {}
    for cost in costs:
        radix = f", radix {cost.radix}" if cost.algorithm in WITH_RADIX else ""
        points.setdefault(f"{cost.algorithm}{radix}", []).append((cost.size, cost.seconds))
    curves = [TimeCurve(name, tuple(sorted(each))) for name, each in points.items()]
    title = f"Real: time of a call on {costs[0].ranks} ranks"
    subtitle = f"{heading(case, costs)}; sizes {case.distribution}, medians of {case.rounds} rounds"
    return draw_times(title, subtitle, curves).document(title, description=subtitle)
