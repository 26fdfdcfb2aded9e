"""The report as data: `vas bench report --json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vas_bench.report.facts import Arm, Comparison, Facts
from vas_bench.report.summary import findings


def as_json(facts: Facts) -> dict[str, Any]:
    """Findings, every experiment's measures, differences to the base, and what was left out."""
    return {
        "findings": [asdict(finding) for finding in findings(facts)],
        "comparisons": [_comparison(each) for each in facts.comparisons],
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


def _arm(arm: Arm, measures: list[str]) -> dict[str, Any]:
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
