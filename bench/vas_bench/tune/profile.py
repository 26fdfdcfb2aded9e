"""Writes a recommended configuration as a job profile: XML that `vas submit --profile` takes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from vas_bench.results.systems import ARM_OF
from vas_bench.run.systems import sizes_of
from vas_bench.tune.plan import REDUCERS, SPLIT, TunePlan
from vas_bench.tune.search import TuneResult
from vas_bench.tune.space import TunePoint, experiment
from vas_core.sizes import format_size
from vas_yarn.jobs.terasort import job_properties

_NOTES = {
    SPLIT: "of new files: input that lies in other stripes has to be written again",
    REDUCERS: "for an input as large as the one it was measured with",
}


def profile_properties(plan: TunePlan, point: TunePoint) -> dict[str, str]:
    """Returns the job properties of a point.

    Those that cut the data (split, reducers) are among them only if the plan varied them.
    """
    swept = {
        key: value
        for key, value, tried in (
            (SPLIT, str(point.split), plan.sweep.split),
            (REDUCERS, str(point.reducers), plan.sweep.reducers),
        )
        if tried
    }
    return {**ARM_OF[plan.system].properties, **swept, **plan.properties, **point.job}


def profile_xml(plan: TunePlan, found: TuneResult, point: TunePoint) -> str:
    """Returns the text of a job profile; its comments say what was measured and how."""
    root = ElementTree.Element("configuration")
    told = profile_properties(plan, point)
    for text in _head(plan, found, point, told):
        _remark(root, text)
    for key, value in told.items():
        entry = ElementTree.SubElement(root, "property")
        if key in _NOTES:
            _remark(entry, _NOTES[key])
        ElementTree.SubElement(entry, "name").text = key
        ElementTree.SubElement(entry, "value").text = value
    ElementTree.indent(root)
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return declaration + ElementTree.tostring(root, encoding="unicode") + "\n"


def _head(plan: TunePlan, found: TuneResult, point: TunePoint, told: dict[str, str]) -> list[str]:
    base = ", ".join(f"{name} {value}" for name, value in found.space.baseline.choices.items())
    where = f"{plan.workload} of {format_size(plan.size)} on {plan.system}, {plan.hosts} hosts"
    beside = job_properties(sizes_of(experiment(plan, point))).items() - told.items()
    return [
        f"`vas bench tune`, plan {plan.name}: {found.verdict.in_words}",
        f"Measured with {where}. The baseline: {base}. Elsewhere it has to be measured again.",
        "All runs had besides: " + " ".join(f"{key}={value}" for key, value in sorted(beside)),
    ]


def _remark(parent: ElementTree.Element, text: str) -> None:
    # XML allows no two dashes in a comment.
    parent.append(ElementTree.Comment(f" {re.sub('-{2,}', '-', text)} "))
