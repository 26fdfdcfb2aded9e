"""The rule by which a measured claim gets its verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from vas_bench.reproduction.claims import PaperAmount, VerdictWord
from vas_bench.statistics.bootstrap import ALPHA
from vas_bench.statistics.compare import ArmDifference

MEANINGS: Mapping[VerdictWord, str] = {
    "same": "measured: significant, the same direction, and their amount, if they give one, "
    "overlaps our interval. Quoted: our runs, or the paper's own numbers computed again, "
    "say so too",
    "better": "measured: significant, the same direction, and our whole interval is beyond their "
    "amount",
    "different": "measured: significant in the other direction, or where they say none, or our "
    "whole interval is short of their amount. Quoted: our runs, or the paper's own numbers, say "
    "something else",
    "not shown": "not significant, or too few runs to ever be, or it did not run yet",
    "cannot": "this machine cannot tell, for the reason given: 2 cores, one disk, one NUMA node, "
    "no adapter, no KVM",
}
"""Each verdict and what it means, in the order in which the page lists them."""


def verdict_of(found: ArmDifference, paper: PaperAmount) -> VerdictWord:
    """Returns the verdict of a measured difference beside the paper's amount."""
    if not found.significant:
        return "not shown"
    if paper.direction == "none":
        return "different"
    is_less = found.ratio.value < 1
    if is_less != (paper.direction == "less"):
        return "different"
    if paper.ratios is None:
        return "same"
    low, high = paper.ratios
    if found.ratio.high < low:
        return "better" if is_less else "different"
    if found.ratio.low > high:
        return "different" if is_less else "better"
    return "same"


def why_not_shown(found: ArmDifference) -> str:
    """Returns why a difference is not significant; it may be that so few runs never are."""
    if found.smallest_p >= ALPHA:
        return f"so few runs never are significant, {found.enough_runs} of each can be"
    return "not significant"
