"""Makes the report of each file of results, beside it: a page, and its pictures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from vas_bench.report.facts import ReportFacts, facts_of
from vas_bench.report.markdown import markdown
from vas_bench.report.page import WIDE_PX, page_of, svg
from vas_bench.results.record import BenchRun
from vas_bench.results.store import read_results
from vas_bench.results.systems import ComparedSystem
from vas_core.cli import note
from vas_core.shown import counted

_MADE = "<!-- `vas bench reproduction` writes this page from the file of results beside it. -->"
_WIDTH = 120
_HASH_CHARS = 12
_DAY = "%Y-%m-%d"


def read_directory(directory: Path) -> dict[str, tuple[BenchRun, ...]]:
    """Returns the runs of each file of results of a directory, by the file's name without ending.

    Raises BadInput for a file that is damaged or holds no run.
    """
    files = sorted(directory.glob("*.jsonl"))
    return {file.stem: read_results(file, say=note) for file in files}


def report_files(
    plan: str, runs: Sequence[BenchRun], base: ComparedSystem | None
) -> dict[str, str]:
    """Returns the report of a plan's runs: its page and pictures, by their names.

    `base` is the system that others are held against.
    """
    facts = facts_of(runs, base)
    page = page_of(facts, plan)
    shown = [figure for figure in page.figures if _is_shown(figure.name)]
    pictures = {
        f"{plan}-{figure.name}.svg": svg(figure.draw(WIDE_PX), figure.name) for figure in shown
    }
    links = [f"![{figure.title}]({name})" for figure, name in zip(shown, pictures, strict=True)]
    return {f"{plan}.md": _page(plan, runs, facts, links), **pictures}


def _is_shown(name: str) -> bool:
    """Whether a figure is on the page: ratios and scalings are, the rest is in the HTML report."""
    return name.endswith("-ratio") or name.startswith("scaling-")


def _page(plan: str, runs: Sequence[BenchRun], facts: ReportFacts, pictures: list[str]) -> str:
    first, last = min(run.time for run in runs), max(run.time for run in runs)
    ran = f"{counted(len(runs), 'run')}, {first:{_DAY}} to {last:{_DAY}}"
    about = (
        f"{ran}, in [{plan}.jsonl]({plan}.jsonl). p is corrected for the systems of each table; on "
        "[reproduction](../../reproduction.md) it is for the comparisons of each claim."
    )
    commands = dict.fromkeys(run.command for run in runs if run.command)
    parts = [
        f"{_MADE}\n# Results: {plan}",
        _wrapped(about),
        *(f"    {command}" for command in commands),
        "\n".join(map(_wrapped, markdown(facts).splitlines())),
        *pictures,
        "## What ran",
        "\n".join(_fingerprints(facts)),
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(line: str) -> str:
    if line.startswith("|"):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(
        line,
        _WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fingerprints(facts: ReportFacts) -> Iterator[str]:
    """The environments and versions of the runs, each with the number of its runs."""
    yield "| runs | environment | of it | versions |"
    yield "|---|---|---|---|"
    found: dict[tuple[str, str, str], int] = {}
    for run in facts.runs:
        environment = ", ".join(f"{name} {value}" for name, value in run.environment.items())
        versions = ", ".join(f"{name} {value}" for name, value in run.versions.items())
        key = (run.environment_fingerprint[:_HASH_CHARS], environment, versions)
        found[key] = found.get(key, 0) + 1
    for (fingerprint, environment, versions), runs in found.items():
        yield f"| {runs} | {fingerprint} | {environment} | {versions} |"
