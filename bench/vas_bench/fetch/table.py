"""The rows of `vas bench fetch`: each arm's median, and the daemon's over stock's. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vas_bench.fetch.subjects import ARMS, DAEMON, STOCK
from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.statistics.ratio import MedianRatio, ratio
from vas_bench.statistics.summary import summary
from vas_core.shown import counted

_MIB = float(1 << 20)


@dataclass(frozen=True)
class RowKind:
    """A measure as a row shows it; `goal` is the largest ratio to stock's that is aimed at."""

    name: str
    measure: str
    unit: str = ""
    scale: float = 1.0
    goal: float | None = None


KINDS = (
    RowKind("all CPU per GiB", "cpu_seconds_per_gib/all", "s", goal=0.40),
    RowKind("all CPU per GiB, JVMs' second fetch", "cpu_seconds_per_gib/all, again", "s"),
    RowKind("clients' CPU per GiB", "cpu_seconds_per_gib/clients", "s"),
    RowKind("clients' CPU per GiB, second fetch", "cpu_seconds_per_gib/clients, again", "s"),
    RowKind("of it their nodes' daemons", "cpu_seconds_per_gib/daemons of clients", "s"),
    RowKind("server's CPU per GiB", "cpu_seconds_per_gib/server", "s"),
    RowKind("time", "wall_seconds/fetch", "s"),
    RowKind("requests", "requests/server"),
    RowKind("connections", "connections/server"),
    RowKind("clients' peak memory (PSS)", "peak_memory_bytes/clients", "MiB", _MIB),
    RowKind("server's peak memory (PSS)", "peak_memory_bytes/server", "MiB", _MIB),
    RowKind(
        "the same beyond the idle server's", "peak_memory_bytes/server beyond idle", "MiB", _MIB
    ),
    RowKind("clients' threads at the end", "threads/clients"),
    RowKind("records written to clients' disks", "reduce_spilled_records/clients"),
)


@dataclass(frozen=True)
class FetchRow:
    """One measure for one number of clients.

    `over_stock` is None where stock or the daemon did not run, and where stock's value is 0.
    """

    kind: RowKind
    clients: int
    medians: dict[ComparedSystem, float]
    n: int
    over_stock: MedianRatio | None

    @property
    def met(self) -> bool | None:
        """Tells whether the ratio is within the goal; None without a goal or a ratio."""
        if self.kind.goal is None or self.over_stock is None:
            return None
        return self.over_stock.value <= self.kind.goal

    def as_json(self) -> dict[str, Any]:
        """Returns the row as `--json` prints it. An arm that did not run is null."""
        it = self.over_stock
        return {
            "name": self.kind.name,
            "clients": self.clients,
            "measure": self.kind.measure,
            "unit": self.kind.unit,
            "medians": {arm: self.medians.get(arm) for arm in ARMS},
            "ratio": round(it.value, 4) if it else None,
            "interval": [round(end, 4) for end in it.interval] if it and it.interval else None,
            "p": round(it.p, 4) if it else None,
            "n": self.n,
            "goal": self.kind.goal,
            "met": self.met,
        }

    def as_cells(self) -> tuple[object, ...]:
        """Returns the row for people, in the order of COLUMNS."""
        unit = f", {self.kind.unit}" if self.kind.unit else ""
        name = f"{counted(self.clients, 'client')}: {self.kind.name}{unit}"
        values = [_number(self.medians.get(arm)) for arm in ARMS]
        it = self.over_stock
        compared = [f"{it.value:.3f}", it.ends, f"{it.p:.3f}"] if it else ["", "", ""]
        return (name, *values, *compared, self.n)


COLUMNS = ("NAME", *(arm.upper() for arm in ARMS), "DAEMON / STOCK", "95 % INTERVAL", "P", "N")


def rows(runs: Sequence[BenchRun]) -> list[FetchRow]:
    """Returns the rows of all valid runs that count, by number of clients."""
    valid = [run for run in runs if run.counts]
    numbers = sorted({int(run.parameters["clients"]) for run in valid})
    return [_row(kind, number, valid) for number in numbers for kind in KINDS]


def _row(kind: RowKind, clients: int, runs: Sequence[BenchRun]) -> FetchRow:
    samples: dict[ComparedSystem, list[float]] = {}
    for run in runs:
        if run.parameters["clients"] == clients:
            value = run.measures[kind.measure] / kind.scale
            samples.setdefault(run.system, []).append(value)
    medians = {arm: round(summary(values).median, 3) for arm, values in samples.items()}
    n = min(len(values) for values in samples.values())
    return FetchRow(kind, clients, medians, n, _over_stock(samples))


def _over_stock(samples: dict[ComparedSystem, list[float]]) -> MedianRatio | None:
    if not {STOCK, DAEMON} <= samples.keys() or min(samples[STOCK]) <= 0:
        return None  # a count of stock's that may be zero, as its daemons' CPU
    return ratio(samples[DAEMON], samples[STOCK])


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
