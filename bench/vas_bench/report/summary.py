"""Sentences that name the winner, by how much and how sure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vas_bench.report.facts import Comparison, ReportArm, ReportFacts, better_of
from vas_bench.report.words import case_words, summary_words
from vas_bench.statistics.compare import ArmDifference, SamplePair, judge
from vas_core.shown import counted


@dataclass(frozen=True)
class ReportFinding:
    """A finding of a report: a sentence, and the sentences that are its evidence."""

    text: str
    evidence: tuple[str, ...] = ()


def findings(facts: ReportFacts) -> list[ReportFinding]:
    """Returns a finding for each comparison."""
    return [_comparison(each) for each in facts.compared]


def _comparison(comparison: Comparison) -> ReportFinding:
    case, noun = case_words(comparison.case), comparison.noun
    first, *others = comparison.ranked
    time = summary_words(comparison.measure, first.job)
    if len(comparison.arms) == 1:
        return ReportFinding(f"{case}: {first.label} alone ran: median {noun} {time}.")
    found = _against(comparison.measure, first, others)
    base = comparison.base.label
    told = [each for each in found if each.pair.base in (base, others[0].label)]
    text = f"{case}: {_headline(noun, first, found)} Its median {noun} was {time}."
    return ReportFinding(text, (*map(_evidence, told), *_environments(comparison)))


def _against(measure: str, first: ReportArm, others: list[ReportArm]) -> list[ArmDifference]:
    """The fastest against each other, judged together: it was chosen for being the fastest."""
    mine, better = first.group.values(measure), better_of(measure)
    return judge(
        [SamplePair(first.label, o.label, mine, o.group.values(measure), better) for o in others]
    )


def _headline(noun: str, first: ReportArm, found: list[ArmDifference]) -> str:
    best, better = ("fastest", "faster") if noun == "job time" else ("best", "better")
    sure = [each.pair.base for each in found if each.improved]
    if len(sure) == len(found):
        return f"{first.label} was the {best}."
    if sure:
        return f"{first.label} was {better} than {_listed(sure)}; against the rest nothing is sure."
    had = "shortest time" if noun == "job time" else f"best {noun}"
    return f"no difference is sure; {first.label} had the {had}."


def _evidence(found: ArmDifference) -> str:
    return f"{found.pair.arm} against {found.pair.base}: {found.verdict}."


def _environments(comparison: Comparison) -> Iterator[str]:
    several = len({arm.group.environment_fingerprint for arm in comparison.arms})
    if several > 1:
        yield f"They ran in {several} environments: more than the systems differs."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def left_out(facts: ReportFacts) -> Iterator[ReportFinding]:
    """Yields the findings on runs that no figure shows."""
    invalid, warm = len(facts.invalid), facts.warm_ups
    if invalid:
        yield ReportFinding(
            f"{_runs(invalid)} marked INVALID and left out of every figure (listed below)."
        )
    if warm:
        yield ReportFinding(f"{_runs(warm)} made to warm up, and left out of every figure.")


def _runs(n: int) -> str:
    return f"{counted(n, 'run')} {'was' if n == 1 else 'were'}"
