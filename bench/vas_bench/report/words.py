"""Numbers, cases and arms as a report writes them."""

from __future__ import annotations

from vas_bench.results.groups import BenchCase
from vas_bench.results.measures import measure_of
from vas_bench.results.record import Parameter
from vas_bench.statistics.summary import Summary
from vas_core.sizes import format_size
from vas_core.svg import number_text

_BYTES = "_bytes"


def case_words(case: BenchCase) -> str:
    """Returns a case in words, like `terasort (hosts 4, size 1 GiB)`."""
    pairs = ", ".join(parameter_words(name, value) for name, value in case.parameters)
    return f"{case.workload} ({pairs})" if pairs else case.workload


def parameter_words(name: str, value: Parameter) -> str:
    """Returns the value of a parameter in words; one in bytes has a unit."""
    if name.endswith(_BYTES) and isinstance(value, int):
        return f"{name.removesuffix(_BYTES)} {format_size(value)}"
    return f"{name} {value}"


def value_words(measure: str, value: float) -> str:
    """Returns a measure's value with its unit."""
    found = measure_of(measure)
    unit = found.unit if found else ""
    if unit in ("B", "B/s"):
        return format_size(round(value)) + unit.removeprefix("B")
    return f"{number_text(value)} {unit}".rstrip()


def summary_words(measure: str, found: Summary) -> str:
    """Returns a summary like `21.5 s (20.1 to 22.3 s, n=5)`; without an interval for one run."""
    value = value_words(measure, found.median)
    if found.median_interval is None:
        return f"{value} (n={found.n})"
    return f"{value} ({interval_words(measure, found.median_interval)}, n={found.n})"


def interval_words(measure: str, interval: tuple[float, float]) -> str:
    """Returns an interval like `20.1 to 22.3 s`, or that the value never varied."""
    low, high = (value_words(measure, end) for end in interval)
    if low == high:
        return "the same in all"
    number, _, unit = low.partition(" ")
    return f"{number if unit == high.partition(' ')[2] else low} to {high}"
