"""Joins a measured claim with the runs of its plan's file of results. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from vas_bench.reproduction.cases import ComparedCase, Parameters, cases_of
from vas_bench.reproduction.claims import PHASE, MeasuredClaim, VerdictWord
from vas_bench.reproduction.verdict import verdict_of, why_not_shown
from vas_bench.results.groups import RunGroup, grouped
from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.statistics.compare import ArmDifference, SamplePair, judge
from vas_bench.statistics.gain import BetterDirection
from vas_core.errors import BadInput

NO_RUNS = "not run yet"


@dataclass(frozen=True)
class ClaimOutcome:
    """One comparison of a claim: its case in words, its difference if it ran, its verdict.

    `reason` says why nothing is shown; it is empty for other verdicts. `left_out` are runs of the
    same case with other versions or in another environment.
    """

    case: str
    verdict: VerdictWord
    reason: str = ""
    difference: ArmDifference | None = None
    left_out: int = 0


@dataclass(frozen=True)
class _Joined:
    case: str
    pair: SamplePair | None = None
    why: str = NO_RUNS
    left_out: int = 0


def outcomes_of(claim: MeasuredClaim, runs: Sequence[BenchRun]) -> list[ClaimOutcome]:
    """Returns each comparison of a claim, with p corrected (Holm) for the claim's comparisons.

    Raises BadInput where the claim's parameters leave several experiments open.
    """
    groups = grouped(runs)
    joined = [_joined(claim, case, groups) for case in cases_of(claim)]
    pairs = [each.pair for each in joined if each.pair]
    judged = iter(judge(pairs) if pairs else ())
    return [_outcome(claim, each, next(judged) if each.pair else None) for each in joined]


def _outcome(claim: MeasuredClaim, joined: _Joined, found: ArmDifference | None) -> ClaimOutcome:
    if found is None:
        return ClaimOutcome(joined.case, "not shown", joined.why)
    verdict = verdict_of(found, claim.paper)
    reason = why_not_shown(found) if verdict == "not shown" else ""
    return ClaimOutcome(joined.case, verdict, reason, found, joined.left_out)


def _joined(claim: MeasuredClaim, case: ComparedCase, groups: Sequence[RunGroup]) -> _Joined:
    words = case.words(with_workload=len(claim.workload) > 1)
    ours = _experiments(claim, case, groups, claim.system, case.own)
    bases = _experiments(claim, case, groups, claim.base, case.other)
    pairs = [(own, base) for own in ours for base in bases if _setting(own) == _setting(base)]
    if not pairs:
        both = ours and bases
        return _Joined(words, why="base and system ran on other builds" if both else NO_RUNS)
    pairs = [pair for pair in pairs if all(values_of(group, claim.measure) for group in pair)]
    if not pairs:
        return _Joined(words, why=f"no run has {claim.measure}")
    # Of several builds the newest counts, whatever it says.
    own, base = max(pairs, key=lambda pair: min(group.runs[-1].time for group in pair))
    others = sum(len(group.runs) for group in (*ours, *bases) if group not in (own, base))
    values, base_values = (values_of(group, claim.measure) for group in (own, base))
    if median(base_values) <= 0:
        return _Joined(words, why="the base's median is 0, which has no ratio")
    higher = claim.paper.direction == "more"
    better = BetterDirection.HIGHER if higher else BetterDirection.LOWER
    pair = SamplePair(claim.system, claim.base, values, base_values, better, claim.measure)
    return _Joined(words, pair, left_out=others)


def values_of(group: RunGroup, measure: str) -> list[float]:
    """Returns the measure, or the seconds of a `phase/NAME`, of each run that has it."""
    if not measure.startswith(PHASE):
        return group.values(measure)
    name = measure.removeprefix(PHASE)
    return [run.phases[name] for run in group.runs if name in run.phases]


def _setting(group: RunGroup) -> tuple[dict[str, str], str]:
    """Returns the versions and the environment: experiments that are compared share both."""
    return group.runs[0].versions, group.environment_fingerprint


def _experiments(
    claim: MeasuredClaim,
    case: ComparedCase,
    groups: Sequence[RunGroup],
    system: ComparedSystem,
    wanted: Parameters,
) -> list[RunGroup]:
    """The experiments of a system that a case asks for; several differ in builds alone.

    Raises BadInput where the parameters leave several open.
    """
    found = [group for group in groups if group.system == system and case.has(group.case, wanted)]
    pairs = Counter(pair for group in found for pair in set(group.case.parameters))
    differing = sorted({name for (name, _), count in pairs.items() if count < len(found)})
    if differing:
        what = f"runs of {system} in {claim.plan}.jsonl differ in {', '.join(differing)}"
        raise BadInput(what, hint="name the value in `parameters`")
    return found
