"""What won, by how much and how sure, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from vas_bench.report.facts import Arm, Comparison, Facts
from vas_bench.report.words import case_words, summary_words
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.statistics.bootstrap import ALPHA
from vas_bench.statistics.chance import runs_needed, smallest_p
from vas_bench.statistics.gain import Better, gain
from vas_bench.statistics.ratio import Ratio, ratio


def sentences(facts: Facts) -> list[str]:
    """One or more for each comparison, and one for what was left out."""
    return [*(_comparison(each) for each in facts.comparisons), *_left_out(facts)]


def _comparison(comparison: Comparison) -> str:
    case, first = case_words(comparison.case), comparison.fastest
    time = summary_words(JOB_SECONDS, first.job)
    if len(comparison.arms) == 1:
        return f"{case}: {first.label} alone ran, with a median job time of {time}."
    others = sorted((a for a in comparison.arms if a is not first), key=lambda a: a.job.median)
    against = {arm.label: arm for arm in (comparison.base, others[0]) if arm is not first}
    parts = " ".join(_against(first, arm) for arm in against.values())
    return f"{case}: {first.label} had the shortest median job time, {time}. {parts}"


def _against(first: Arm, other: Arm) -> str:
    found = ratio(first.group.values(JOB_SECONDS), other.group.values(JOB_SECONDS))
    counts = len(first.group.runs), len(other.group.runs)
    gained = gain(found, other.label, Better.LOWER).in_words
    return f"That is {gained}: {sureness(found, counts)}."


def sureness(found: Ratio, runs: tuple[int, int]) -> str:
    """How sure a ratio is, in words; too few runs to ever be sure are said so."""
    n = f"{runs[0]} and {runs[1]} runs" if runs[0] != runs[1] else f"{runs[0]} runs each"
    least = smallest_p(*runs)
    if least >= ALPHA:
        n = "one run each" if max(runs) == 1 else n
        return f"nothing is sure with {n}, it takes {runs_needed()}"
    if found.p < ALPHA:
        return f"significant (p = {found.p:.2g}, {n})"
    return f"not significant (p = {found.p:.2g}, {n}): it may be chance"


def _left_out(facts: Facts) -> Iterator[str]:
    invalid, warm = len(facts.invalid), facts.warm_ups
    if invalid:
        yield f"{_runs(invalid)} marked INVALID and left out of every figure; the list says why."
    if warm:
        yield f"{_runs(warm)} made to warm up, and left out of every figure."


def _runs(n: int) -> str:
    return "1 run was" if n == 1 else f"{n} runs were"
