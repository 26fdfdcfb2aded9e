"""The rows of `vas bench fetch`: each arm's median, and what it is of stock's. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from vas_bench.fetch.subjects import ARMS, DAEMON, DAEMON_MERGED, DAEMON_TLS, STOCK_OF
from vas_bench.results.record import BenchRun
from vas_bench.results.systems import Fetching
from vas_bench.statistics.ratio import MedianRatio, ratio
from vas_bench.statistics.summary import summary
from vas_core.shown import counted
from vas_core.sizes import format_size

_MIB = float(1 << 20)


@dataclass(frozen=True)
class RowKind:
    """A measure as a row shows it; `goals` are the largest ratios to stock's, by arm."""

    name: str
    measure: str
    unit: str = ""
    scale: float = 1.0
    goals: Mapping[Fetching, float] = field(default_factory=dict)


_GOALS = {DAEMON: 0.40, DAEMON_TLS: 0.40, DAEMON_MERGED: 0.25}
KINDS = (
    RowKind("all CPU per GiB", "cpu_seconds_per_gib/all", "s", goals=_GOALS),
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
class FetchArm:
    """An arm that rows compare: a system, its number of clients, and the size of reads chosen."""

    system: Fetching
    clients: int
    read_bytes: int | None = None

    @property
    def title(self) -> str:
        """The arm as a table names it."""
        return f"{self.system}, {format_size(self.read_bytes)}" if self.read_bytes else self.system


@dataclass(frozen=True)
class FetchRow:
    """One measure of an arm.

    `over_stock` is None of stock itself, where stock did not run, and where its value is 0.
    """

    kind: RowKind
    arm: FetchArm
    median: float
    n: int
    over_stock: MedianRatio | None

    @property
    def goal(self) -> float | None:
        """The largest ratio that is aimed at; None without a goal."""
        return self.kind.goals.get(self.arm.system)

    @property
    def met(self) -> bool | None:
        """Tells whether the ratio is within the goal; None without a goal or a ratio."""
        if self.goal is None or self.over_stock is None:
            return None
        return self.over_stock.value <= self.goal

    def as_json(self) -> dict[str, Any]:
        """Returns the row as `--json` prints it."""
        it = self.over_stock
        return {
            "name": self.kind.name,
            "arm": self.arm.system,
            "clients": self.arm.clients,
            "read_bytes": self.arm.read_bytes,
            "measure": self.kind.measure,
            "unit": self.kind.unit,
            "median": self.median,
            "n": self.n,
            "over": STOCK_OF[self.arm.system] if it else None,
            "ratio": round(it.value, 4) if it else None,
            "interval": [round(end, 4) for end in it.interval] if it and it.interval else None,
            "p": round(it.p, 4) if it else None,
            "goal": self.goal,
            "met": self.met,
        }

    def as_cells(self) -> tuple[object, ...]:
        """Returns the row for people, in the order of COLUMNS."""
        unit = f", {self.kind.unit}" if self.kind.unit else ""
        name = f"{counted(self.arm.clients, 'client')}: {self.kind.name}{unit}"
        it = self.over_stock
        compared = [f"{it.value:.3f}", it.ends, f"{it.p:.3f}"] if it else ["", "", ""]
        verdict = "" if self.met is None else f"{self.goal}{'' if self.met else ': missed'}"
        return (name, self.arm.title, _number(self.median), *compared, self.n, verdict)


COLUMNS = ("NAME", "ARM", "MEDIAN", "OF STOCK'S", "95 % INTERVAL", "P", "N", "GOAL")


def rows(runs: Sequence[BenchRun]) -> list[FetchRow]:
    """Returns the rows of all valid runs that count: by clients, then by measure, then by arm."""
    of_arm: dict[FetchArm, list[BenchRun]] = {}
    for run in runs:
        if run.counts:
            of_arm.setdefault(_arm(run), []).append(run)
    arms = sorted(of_arm, key=lambda it: (ARMS.index(it.system), it.read_bytes or 0))
    numbers = sorted({arm.clients for arm in arms})
    return [
        _row(kind, arm, of_arm)
        for number in numbers
        for kind in KINDS
        for arm in arms
        if arm.clients == number
    ]


def _arm(run: BenchRun) -> FetchArm:
    read_bytes = run.parameters.get("read_bytes")
    clients = int(run.parameters["clients"])
    return FetchArm(cast(Fetching, run.system), clients, int(read_bytes) if read_bytes else None)


def _row(kind: RowKind, arm: FetchArm, of_arm: Mapping[FetchArm, list[BenchRun]]) -> FetchRow:
    own = _samples(kind, of_arm[arm])
    stock = STOCK_OF.get(arm.system)
    base = _samples(kind, of_arm.get(FetchArm(stock, arm.clients), ())) if stock else []
    # A count of stock's may be zero, as its daemons' CPU.
    over = ratio(own, base) if base and min(base) > 0 else None
    return FetchRow(kind, arm, round(summary(own).median, 3), len(own), over)


def _samples(kind: RowKind, runs: Sequence[BenchRun]) -> list[float]:
    return [run.measures[kind.measure] / kind.scale for run in runs]


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
