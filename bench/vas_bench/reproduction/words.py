"""Puts a claim's outcomes in words, as cells of the page's tables. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.reproduction.claims import PHASE, MeasuredClaim, PaperClaim
from vas_bench.reproduction.measured import ClaimOutcome
from vas_bench.results.measures import noun_of
from vas_bench.statistics.compare import ArmDifference

RESULTS = "evidence/results"
"""Where files of results and their reports are, from docs/."""


def cells_of(claim: PaperClaim, outcomes: Sequence[ClaimOutcome]) -> tuple[str, str, str, str]:
    """Returns the row of a claim; `outcomes` are those of a measured one, empty for others."""
    ours = claim.ours or "-"
    verdict = f"**{claim.verdict}**" + (f": {claim.reason}" if claim.reason else "")
    if claim.measured:
        told = _measured(claim.measured, outcomes)
        ours = f"{told}. {claim.ours}" if claim.ours else told
        verdict = _verdicts(outcomes)
    return claim.claim, claim.theirs, f"**simulated**: {ours}" if claim.simulated else ours, verdict


def _measured(claim: MeasuredClaim, outcomes: Sequence[ClaimOutcome]) -> str:
    workload = f"{claim.workload[0]}, " if len(claim.workload) == 1 else ""
    head = f"{workload}{_noun(claim.measure)}, `{claim.system}` / `{claim.base}`"
    command = f"vas bench run bench/plans/{claim.plan}.yaml"
    file = f"docs/{RESULTS}/{claim.plan}.jsonl"
    if not any(each.difference for each in outcomes):
        why = "; ".join(dict.fromkeys(each.reason for each in outcomes))
        return f"{head}: {why}: `{command} --out {file}`"
    cases = "; ".join(_case(each) for each in outcomes)
    text = f"{head}: {cases} ([runs]({RESULTS}/{claim.plan}.md))"
    if all(each.difference for each in outcomes):
        return text
    return f"{text}; the rest: `{command} --resume --out {file}`"


def _noun(measure: str) -> str:
    if measure.startswith(PHASE):
        return f"seconds of the phase {measure.removeprefix(PHASE)}"
    return noun_of(measure)


def _case(outcome: ClaimOutcome) -> str:
    case = f"{outcome.case}: " if outcome.case else ""
    if outcome.difference is None:
        return f"{case}{outcome.reason}"
    left = f", {outcome.left_out} runs of other builds not counted" if outcome.left_out else ""
    return f"{case}{_ratio(outcome.difference)}{left}"


def _ratio(found: ArmDifference) -> str:
    ours, theirs = len(found.pair.samples), len(found.pair.base_samples)
    n = f"n={ours}" if ours == theirs else f"n={ours} against {theirs}"
    ends = f" ({found.ratio.ends})" if found.ratio.interval else ""
    return f"{found.ratio.value:.3f}{ends}, {n}, p={found.p:.2g}"


def _verdicts(outcomes: Sequence[ClaimOutcome]) -> str:
    by_word: dict[str, list[ClaimOutcome]] = {}
    for each in outcomes:
        by_word.setdefault(each.verdict, []).append(each)
    return "; ".join(
        f"**{word}**{_cases(found) if len(by_word) > 1 else ''}{_reasons(found)}"
        for word, found in by_word.items()
    )


def _cases(outcomes: Sequence[ClaimOutcome]) -> str:
    return f" at {'; '.join(each.case for each in outcomes)}"


def _reasons(outcomes: Sequence[ClaimOutcome]) -> str:
    reasons = dict.fromkeys(each.reason for each in outcomes if each.reason)
    return f": {'; '.join(reasons)}" if reasons else ""
