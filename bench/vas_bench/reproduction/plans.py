"""Checks that the plan of each measured claim runs what the claim compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vas_bench.reproduction.cases import Parameters, cases_of
from vas_bench.reproduction.claims import ClaimFiles, MeasuredClaim
from vas_bench.run.experiments import experiments
from vas_bench.run.plan import BenchPlan
from vas_core.errors import BadInput
from vas_core.settings import read_yaml


def check_plans(claims: ClaimFiles, directory: Path) -> None:
    """Raises BadInput that names the claim whose comparison no run of its plan can answer."""
    for file, section in claims.sections.items():
        for number, claim in enumerate(section.claims):
            if claim.measured:
                where = f"{file}: claims[{number}].measured"
                _check(claim.measured, directory, where)


def _check(claim: MeasuredClaim, directory: Path, where: str) -> None:
    plan_file = directory / f"{claim.plan}.yaml"
    if not plan_file.is_file():
        known = ", ".join(sorted(file.stem for file in directory.glob("*.yaml")))
        raise BadInput(
            f"there is no plan {claim.plan}", where=f"{where}.plan", hint=f"one of {known}"
        )
    planned = experiments(read_yaml(plan_file, BenchPlan))
    for workload, system, asked in _wanted(claim):
        if not any(
            (workload, system) == (each.workload, each.system)
            and asked.items() <= each.parameters.items()
            for each in planned
        ):
            words = ", ".join(f"{name} {value}" for name, value in asked.items())
            what = f"{claim.plan} does not run {workload} on {system} ({words})"
            raise BadInput(what, where=where, hint="name what the plan runs, or another plan")


def _wanted(claim: MeasuredClaim) -> Iterator[tuple[str, str, Parameters]]:
    for case in cases_of(claim):
        yield case.workload, claim.system, case.own
        yield case.workload, claim.base, case.other
