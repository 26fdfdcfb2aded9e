"""The report as data: `vas bench report --json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vas_bench.report.facts import Comparison, ReportArm, ReportFacts
from vas_bench.report.page import all_findings
from vas_bench.report.scaling import Scaling
from vas_bench.usl.fit import Fit
from vas_bench.usl.law import COEFFICIENTS, DERIVED


def as_json(facts: ReportFacts) -> dict[str, Any]:
    """Returns findings, every experiment's measures, differences to the base, runs left out."""
    return {
        "findings": [asdict(finding) for finding in all_findings(facts)],
        "comparisons": [_comparison(each) for each in facts.comparisons],
        "scalings": [_scaling(each) for each in facts.scalings],
        "invalid": [{"id": run.id, "why": run.invalid} for run in facts.invalid],
        "warm_ups": facts.warm_ups,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "workload": comparison.case.workload,
        "parameters": dict(comparison.case.parameters),
        "base": comparison.base.label,
        "arms": [_arm(arm, comparison.measures) for arm in comparison.arms],
    }


def _arm(arm: ReportArm, measures: list[str]) -> dict[str, Any]:
    found = arm.difference
    difference = (
        {"ratio": asdict(found.ratio), "p": found.p, "verdict": found.verdict} if found else None
    )
    summaries = {name: arm.summary(name) for name in measures}
    return {
        "system": arm.system,
        "label": arm.label,
        "configuration_hash": arm.group.configuration_hash,
        "environment_fingerprint": arm.group.environment_fingerprint,
        "runs": len(arm.group.runs),
        "job_seconds_against_base": difference,
        "measures": {name: asdict(each) for name, each in summaries.items() if each},
        "phases": arm.phases,
        "hosts": {name: host.model_dump() for name, host in arm.hosts.items()},
    }


def _scaling(scaling: Scaling) -> dict[str, Any]:
    points = [[point.p, point.throughput] for point in scaling.points]
    fits = [each for each in scaling.fits if isinstance(each, Fit)]
    return {
        "workload": scaling.case.workload,
        "parameters": dict(scaling.case.parameters),
        "system": scaling.system,
        "unit": scaling.unit,
        "points": points,
        "fits": [_fit(each) for each in fits],
        "diagnosis": asdict(scaling.diagnosis),
    }


def _fit(fit: Fit) -> dict[str, Any]:
    figures = {name: getattr(fit.law, name) for name in (*COEFFICIENTS, *DERIVED)}
    return {"name": fit.way} | figures | {"extrapolated": fit.unseen()}
