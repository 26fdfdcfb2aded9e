"""Measurements for the law: throughput by nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from vas_bench.csvfile import CsvRow, CsvTable
from vas_core.errors import BadInput

_NODES = ("p", "nodes", "hosts")
_THROUGHPUT, _SECONDS = "throughput", "seconds"
_FAILURES = ("failed_reduces", "retries")


@dataclass(frozen=True)
class ScalingPoint:
    """One run: nodes, throughput in any unit, and the failures it counted, by column."""

    p: float
    throughput: float
    failures: tuple[tuple[str, float], ...] = ()


def points_of(table: CsvTable) -> list[ScalingPoint]:
    """Reads runs from a table: columns p, throughput (or seconds of the same work), and, where
    they were counted, failed_reduces and retries. Raises BadInput with the line.
    """
    nodes = next((name for name in _NODES if name in table.columns), None)
    rate = next((name for name in (_THROUGHPUT, _SECONDS) if name in table.columns), None)
    if nodes is None or rate is None:
        wanted = "columns p and throughput, or p and seconds, are wanted"
        raise BadInput(wanted, where=table.name, hint=f"it has {', '.join(table.columns)}")
    return [_point(row, nodes, rate, table.columns) for row in table.rows]


def _point(row: CsvRow, nodes: str, rate: str, columns: Sequence[str]) -> ScalingPoint:
    p, value = row.number(nodes), row.number(rate)
    if p < 1:
        raise BadInput(f"{nodes} is {p:g}", where=row.where, hint="count nodes from 1")
    failures = [(n, row.number(n, above_zero=False)) for n in _FAILURES if n in columns]
    return ScalingPoint(p, value if rate == _THROUGHPUT else 1 / value, tuple(failures))


def single_node(points: Sequence[ScalingPoint]) -> float | None:
    """Returns the mean throughput of one node; None if it was not measured."""
    alone = [it.throughput for it in points if it.p == 1]
    return fmean(alone) if alone else None
