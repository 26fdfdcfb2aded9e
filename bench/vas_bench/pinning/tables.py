"""Prints the arms of an experiment, and the answers of its tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vas_bench.pinning.design import PinningAnswer
from vas_bench.results.measures import noun_of
from vas_bench.statistics.summary import Summary
from vas_core.table import print_table


def print_arms(metric: str, summaries: Mapping[str, Summary]) -> None:
    """Prints a row for each arm; `metric` is the unit of its values."""
    print_table(
        ("arm", "n", f"mean {metric}", "sd", "sd/mean", "least", "most"),
        (_arm_row(name, one) for name, one in summaries.items()),
    )


def print_counts(counts: Mapping[str, Mapping[str, float]]) -> None:
    """Prints a row for each arm: the means of what its runs counted."""
    names = list(dict.fromkeys(name for of in counts.values() for name in of))
    print_table(
        ("arm", *map(noun_of, names)),
        (
            (arm, *(f"{of[name]:,.2f}" if name in of else "-" for name in names))
            for arm, of in counts.items()
        ),
    )


def print_answers(answers: Iterable[PinningAnswer], alpha: float) -> None:
    """Prints a row for each test; `alpha` is the level of significance."""
    print_table(
        ("question", "effect", "95 % interval", "p", "p (Holm)", "significant"),
        (_answer_row(one, alpha) for one in answers),
    )


def _arm_row(name: str, one: Summary) -> tuple[object, ...]:
    mean, sd, least, most = (f"{it:.1f}" for it in (one.mean, one.sd, one.lowest, one.highest))
    return name, one.n, mean, sd, f"{100 * one.cv:.1f}%", least, most


def _answer_row(one: PinningAnswer, alpha: float) -> tuple[object, ...]:
    if one.unit == "%":
        effect, interval = f"{one.effect:+.1f} %", "-"
    else:
        effect, interval = f"spread x {one.effect:.2f}", "-"
    if one.low is not None and one.high is not None:
        interval = f"{one.low:+.1f} to {one.high:+.1f} %"
    verdict = "yes" if one.significant(alpha) else "no"
    return one.question, effect, interval, f"{one.p:.2g}", f"{one.p_holm:.2g}", verdict
