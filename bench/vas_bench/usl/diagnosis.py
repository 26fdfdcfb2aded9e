"""The conclusion from all fits: linear, sublinear, retrograde, or a stretched baseline.

Superlinear speedup is not free capacity. The article found runs on few nodes stretched by retried
Reduce tasks: T(1) is too long, every speedup too large, and sigma below zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from vas_bench.usl.fit import Fit, LeftOut, Way
from vas_bench.usl.law import Law, or_never
from vas_bench.usl.points import ScalingPoint, single_node

STRETCHED = "superlinear: the baseline is stretched"
_SUSPECT = "superlinear: suspect that the baseline is stretched"
_NOT_SUPERLINEAR = "the baseline is stretched: contention is more than it seems"
_RETROGRADE = "retrograde: every node more makes it slower"
_NO_GAIN = "no scaling: more nodes do no more than one"
# What more nodes do is less than that of what one does: they do not do the same.
_FLAT = 0.98
# Less than that is nothing to speak of, however sure.
_STRETCH = 1.02
# With its peak before that, the law gives two nodes less than one.
_AT_ONCE = 1.5


@dataclass(frozen=True)
class UslDiagnosis:
    """The verdict, what speaks for it, and what must be said of the figures."""

    verdict: str
    evidence: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def stretched(self) -> bool:
        """Tells whether there is evidence that runs on one node took longer than they should."""
        return self.verdict in (STRETCHED, _NOT_SUPERLINEAR)


def diagnose(points: Sequence[ScalingPoint], fits: Sequence[Fit | LeftOut]) -> UslDiagnosis:
    """Returns the diagnosis of runs and `fit_all`'s fits of them."""
    warnings = tuple(_warnings(fits))
    laws = [(fit, fit.law) for fit in fits if fit.law is not None]
    if not laws:
        return UslDiagnosis("no law: no fit was possible", warnings=warnings)
    stretched = tuple(_stretched(points, fits))
    first, law = laws[0]
    if _above_linear(law) and (stretched or _is_sure(first)):
        superlinear = tuple(_superlinear(points, first, law))
        if stretched:
            return UslDiagnosis(STRETCHED, (*superlinear, *stretched), warnings)
        return UslDiagnosis(_SUSPECT, (*superlinear, _next_step(points)), warnings)
    if stretched:
        return UslDiagnosis(_NOT_SUPERLINEAR, stretched, warnings)
    verdict = _usual(first) if isinstance(first, Fit) else f"no law: {first.why}"
    return UslDiagnosis(verdict, warnings=warnings)


def _above_linear(law: Law) -> bool:
    return law.sigma < 0 and -law.sigma > law.kappa


def _is_sure(fit: Fit | LeftOut) -> bool:
    """Whether its sigma is not what noise makes of zero."""
    return not isinstance(fit, Fit) or not _may_be_zero(fit, "sigma")


def _superlinear(points: Sequence[ScalingPoint], fit: Fit | LeftOut, law: Law) -> Iterator[str]:
    ends = fit.interval("sigma") if isinstance(fit, Fit) else None
    interval = f" ({ends[0]:.3g} to {ends[1]:.3g})" if ends else ""
    yield f"sigma is {law.sigma:.3g}{interval} in the {fit.way} fit"
    alone = single_node(points)
    if alone:
        efficiency, p = max((x / alone / p, p) for p, x in _means(points).items())
        if efficiency > 1:
            yield f"measured at p = {p:g}: {100 * efficiency:.0f} % of linear speedup"


def _stretched(points: Sequence[ScalingPoint], fits: Sequence[Fit | LeftOut]) -> Iterator[str]:
    by_way = {fit.way: fit for fit in fits}
    two, without = by_way[Way.TWO].law, by_way[Way.WITHOUT_ONE]
    if two and isinstance(without, Fit):
        ends = without.interval("gamma")
        stretch = without.law.gamma / two.gamma
        is_stretched = stretch > _STRETCH and (ends is None or ends[0] > two.gamma)
        is_sure = is_stretched or _is_sure(by_way[Way.TWO])
        if is_sure and two.sigma < 0 <= without.law.sigma:
            yield (
                f"sigma changes its sign: {two.sigma:.3g} with one node, "
                f"{without.law.sigma:.3g} without"
            )
        if is_stretched:
            yield f"one node does 1/{stretch:.2f} of what runs on more say it can"
    yield from _failures(points)


def _failures(points: Sequence[ScalingPoint]) -> Iterator[str]:
    for name in dict(points[0].failures):
        alone = [dict(it.failures)[name] for it in points if it.p == 1]
        others = [dict(it.failures)[name] for it in points if it.p != 1]
        if alone and others and fmean(alone) > fmean(others):
            few, many = f"{fmean(alone):.2g}", f"{fmean(others):.2g}"
            yield f"{name}: {few} a run on one node, {many} on more"


def _next_step(points: Sequence[ScalingPoint]) -> str:
    if points[0].failures:
        return "no more failures on one node, and all fits agree: look at its page cache and disk"
    return "all fits agree; columns failed_reduces and retries would show why"


def _usual(fit: Fit) -> str:
    law = fit.law
    if or_never(law.peak) < _AT_ONCE or or_never(law.ceiling) <= 1:
        return _RETROGRADE if law.throughput(fit.largest) < _FLAT * law.gamma else _NO_GAIN
    zeros = [name for name in ("sigma", "kappa") if _may_be_zero(fit, name)]
    if len(zeros) == 2:
        return "linear, or too noisy to tell: sigma and kappa may both be 0"
    if law.peak is not None:
        return f"sublinear: it peaks at p = {law.peak:.3g}"
    return f"sublinear: speedup stays below {law.ceiling:.3g}" if law.ceiling else "linear"


def _may_be_zero(fit: Fit, name: str) -> bool:
    ends = fit.interval(name)
    return ends is not None and ends[0] <= 0 <= ends[1]


def _warnings(fits: Sequence[Fit | LeftOut]) -> Iterator[str]:
    for fit in fits:
        if isinstance(fit, LeftOut):
            yield f"{fit.way}: left out: {fit.why}"
            continue
        unseen = fit.unseen()
        if unseen:
            names = ", ".join(name.replace("_", " ") for name in unseen)
            yield f"{fit.way}: extrapolated, p was measured to {fit.largest:g}: {names}"
        if fit.law.kappa == 0:
            yield f"{fit.way}: kappa is at its bound of 0: no peak shows in these runs"


def _means(points: Sequence[ScalingPoint]) -> dict[float, float]:
    counts = sorted({it.p for it in points})
    return {p: fmean(it.throughput for it in points if it.p == p) for p in counts}
