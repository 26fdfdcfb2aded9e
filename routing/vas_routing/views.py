"""Formats plans and explanations for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from vas_core.program import as_called
from vas_core.table import print_table
from vas_routing.doctor import RouteFinding
from vas_routing.explain import PathExplanation
from vas_routing.plan import Thing, kind_of, row_of


def words(thing: Thing) -> tuple[str, str]:
    """Returns a thing's kind, and the rest of it in words like those of `ip`."""
    row = {key: value for key, value in row_of(thing).items() if value not in (0, "")}
    return kind_of(thing), " ".join(f"{key} {value}" for key, value in row.items())


def lines(found: PathExplanation, *, asked: bool) -> Iterator[str]:
    """Yields an explanation, one fact per line; `asked`: whether the kernel was asked."""
    yield f"{found.destination} ({found.address})"
    path = f"{found.leg or 'local'}" if found.device else "not VAS's"
    by = f" via {found.gateway}" if found.gateway else ""
    yield f"  path    {path}" + (f": dev {found.device}{by}" if found.device else "")
    yield f"  reason  {found.reason}"
    if asked:
        yield f"  kernel  {_answer(found)}"


def print_findings(findings: Sequence[RouteFinding]) -> None:
    """Prints all findings in a table, followed by the fixes of those that are wrong."""
    marks = {True: "ok", False: "--", None: "?"}
    print_table(
        ("", "CHECK", "WHERE", "WHAT"), [(marks[f.ok], f.check, f.where, f.what) for f in findings]
    )
    for finding in findings:
        if not finding.ok:
            click.echo(f"\n{finding.check}, {finding.where}:")
            click.echo(as_called(textwrap.indent(finding.fix, "    ")))


def _answer(found: PathExplanation) -> str:
    kernel = found.kernel
    if kernel is None:
        return "has no route"
    by = f" via {kernel.gateway}" if kernel.gateway else ""
    source = f" src {kernel.source}" if kernel.source else ""
    verdict = "" if found.agrees else "   DIFFERENT: see `vas route doctor`"
    return f"dev {kernel.device}{by}{source} table {kernel.table}{verdict}"
