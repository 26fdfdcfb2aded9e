"""Makes the report page of each file of results, beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from vas_bench.report.facts import ReportFacts, facts_of
from vas_bench.report.markdown import markdown
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


def report_page(plan: str, runs: Sequence[BenchRun], base: ComparedSystem | None) -> str:
    """Returns the page on a plan's runs; `base` is the system that others are held against."""
    facts = facts_of(runs, base)
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
