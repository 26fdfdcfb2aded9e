"""Prints the arms and the tests of `vas affinity experiment`."""

from __future__ import annotations

import click

from vas_bench.pinning.conduct import PinningResult
from vas_bench.pinning.statistics import PinningAnswer
from vas_bench.statistics.summary import Summary
from vas_core.cli import note
from vas_core.table import print_table


def print_result(result: PinningResult, alpha: float) -> None:
    """Prints the arms, the tests, and the conclusions that they allow."""
    print_table(
        ("arm", "n", f"mean {result.metric}", "sd", "sd/mean", "least", "most"),
        (_arm_row(name, one) for name, one in result.summaries().items()),
    )
    click.echo()
    print_table(
        ("question", "effect", "95 % interval", "p", "p (Holm)", "significant"),
        (_test_row(test, alpha) for test in result.tests()),
    )
    note(
        f"{result.cpus} CPUs; other processes used {result.others_cpus:.2f} of them on average; "
        f"effects on the mean are in % of the arm that is neither tuned nor pinned"
    )


def _arm_row(name: str, one: Summary) -> tuple[object, ...]:
    mean, sd, least, most = (f"{it:.1f}" for it in (one.mean, one.sd, one.lowest, one.highest))
    return name, one.n, mean, sd, f"{100 * one.cv:.1f}%", least, most


def _test_row(test: PinningAnswer, alpha: float) -> tuple[object, ...]:
    if test.unit == "%":
        effect, interval = f"{test.effect:+.1f} %", "-"
    else:
        effect, interval = f"spread x {test.effect:.2f}", "-"
    if test.low is not None and test.high is not None:
        interval = f"{test.low:+.1f} to {test.high:+.1f} %"
    verdict = "yes" if test.significant(alpha) else "no"
    return test.question, effect, interval, f"{test.p:.2g}", f"{test.p_holm:.2g}", verdict
