"""The report as tables for a README."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vas_bench.report.facts import Comparison, ReportArm, ReportFacts
from vas_bench.report.page import all_findings
from vas_bench.report.words import case_words, summary_words

_COLUMNS = ("system", "job time, median (95 % interval)", "against the base")


def markdown(facts: ReportFacts) -> str:
    """Returns a table for each comparison, and the findings as a list."""
    parts = ["\n".join(_comparison(each)) for each in facts.comparisons]
    told = [f"- {_escaped(finding.text)}" for finding in all_findings(facts)]
    return "\n\n".join([*parts, "\n".join(told)]) + "\n"


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"**{_escaped(case_words(comparison.case))}**"
    yield ""
    yield _line(_COLUMNS)
    yield _line(["---"] * len(_COLUMNS))
    for arm in comparison.arms:
        yield _line([arm.label, summary_words(comparison.measure, arm.job), _against(arm)])


def _against(arm: ReportArm) -> str:
    if arm.difference is None:
        return "base"
    return f"{arm.difference.ratio.value:.2f}; {arm.difference.verdict}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    for sign in ("\\", "|", "<", "*", "_", "`"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
