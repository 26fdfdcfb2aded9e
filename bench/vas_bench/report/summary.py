"""What won, by how much and how sure, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from vas_bench.report.facts import Arm, Comparison, Facts
from vas_bench.report.words import case_words, spread_words
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.samples import Ratio, ratio


def summary(facts: Facts) -> list[str]:
    """A sentence or two for each comparison, and one for what was left out."""
    return [*(_comparison(each) for each in facts.comparisons), *_left_out(facts)]


def _comparison(comparison: Comparison) -> str:
    case, first = case_words(comparison.case), comparison.fastest
    time = spread_words(JOB_SECONDS, first.job)
    if len(comparison.arms) == 1:
        return f"{case}: {first.label} alone ran, with a median job time of {time}."
    others = sorted((a for a in comparison.arms if a is not first), key=lambda a: a.job.value)
    against = [comparison.base] if comparison.base is not first else []
    against += [arm for arm in others[:1] if arm not in against]
    parts = " ".join(_against(first, arm) for arm in against)
    return f"{case}: {first.label} had the shortest median job time, {time}. {parts}"


def _against(first: Arm, other: Arm) -> str:
    found = ratio(first.group.values(JOB_SECONDS), other.group.values(JOB_SECONDS))
    return f"Against {other.label} ({other.job.value:.1f} s): {gain_words(found)}."


def gain_words(found: Ratio) -> str:
    raise NotImplementedError


def _left_out(facts: Facts) -> Iterator[str]:
    invalid, warm = len(facts.invalid), facts.warm_ups
    if invalid or warm:
        yield (
            f"Left out of every figure: {_runs(invalid)} marked INVALID (listed below), "
            f"and {_runs(warm)} made for warming up."
        )


def _runs(n: int) -> str:
    return f"{n} run" if n == 1 else f"{n} runs"
