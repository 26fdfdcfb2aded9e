"""The command `vas bench report`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_bench.options import read_runs, results_path, skip_damaged_option
from vas_bench.report.facts import ReportFacts, facts_of
from vas_bench.report.json import as_json as facts_as_json
from vas_bench.report.markdown import markdown as as_markdown
from vas_bench.report.page import all_findings, html, page_of, write_figures
from vas_bench.results.systems import SYSTEMS
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.shown import counted
from vas_yarn.jobs.systems import System

_TITLE = "VAS benchmark report"


@click.command()
@click.argument("results", type=results_path)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The HTML file to write [default: RESULTS with the ending .html].",
)
@click.option(
    "--figures",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write each figure as SVG and PNG into this directory.",
)
@click.option("--markdown", is_flag=True, help="Print tables for a README instead of a page.")
@click.option(
    "--base",
    metavar="SYSTEM",
    type=click.Choice(list(SYSTEMS)),
    help=f"The system to hold others against: {', '.join(SYSTEMS)}.",
)
@click.option("--title", default=_TITLE, show_default=True)
@skip_damaged_option
@json_option
def report(
    results: Path,
    out: Path | None,
    directory: Path | None,
    markdown: bool,
    base: System | None,
    title: str,
    skip_damaged: bool,
    as_json: bool,
) -> None:
    """Write one HTML page on a file of results.

    The page needs no network, and carries the runs it was made of: it can be read again in place
    of a file of results. It compares job times; below 5 runs of a system little is sure.

    \b
    Examples: vas bench report results.jsonl
              vas bench report results.jsonl --out r.html --figures figures --base yarn-hdfs
              vas bench report results.jsonl --markdown

    \f
    Raises BadInput for options that do not go together.
    """
    if sum(map(bool, (out, as_json, markdown))) > 1:
        hint = "--out is the page's, --markdown and --json print"
        raise BadInput("give one of --out, --markdown, --json", hint=hint)
    target = out or results.with_suffix(".html")
    if target == results and not (as_json or markdown):
        raise BadInput("is what would be written", where=str(results), hint="give --out")
    facts = _facts(results, base, skip_damaged)
    if directory:
        written = write_figures(page_of(facts, title), directory)
        note(f"{counted(len(written), 'figure')} in {directory}")
    if as_json:
        print_json(facts_as_json(facts))
    elif markdown:
        click.echo(as_markdown(facts), nl=False)
    else:
        write_atomically(target, html(page_of(facts, title)))
        _say(facts, target)


def _facts(results: Path, base: System | None, skip_damaged: bool) -> ReportFacts:
    facts = facts_of(read_runs(results, skip_damaged), base)
    if base and all(group.system != base for group in facts.groups):
        ran = sorted({str(group.system) for group in facts.groups})
        raise BadInput("it did not run", where=f"--base {base}", hint=f"one of {', '.join(ran)}")
    return facts


def _say(facts: ReportFacts, target: Path) -> None:
    for finding in all_findings(facts):
        click.echo(finding.text)
        for sentence in finding.evidence:
            click.echo(f"  {sentence}")
    note(f"report: {target}")
