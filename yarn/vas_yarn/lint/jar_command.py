"""`vas job lint`: what a job's jar does that a JVM of several tasks must not."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_core.shown import counted, shown
from vas_yarn.lint.job_code import read_jar


@click.command("lint")
@click.argument("jar", type=click.Path(path_type=Path))
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME",
    help="Only classes of this package and those below it, for a jar that holds libraries too.",
)
@json_option
def lint_jar(jar: Path, packages: tuple[str, ...], as_json: bool) -> int:
    """Find what a job's jar does that a JVM which runs several tasks must not.

    That is: exits, threads, static fields that code sets, and settings of the whole JVM. Methods
    main(String[]) and run(String[]) are left out: they run in the client.

    Status 3 when there are findings, 2 for a jar that cannot be read.

    \b
    Example: vas job lint my.jar
             vas job lint --package org.example everything.jar --json
    """
    found = read_jar(jar, packages)
    if found.inner_jars:
        note(f"{counted(found.inner_jars, 'jar')} in its lib/ not read; give each by itself")
    if as_json:
        print_json([one.as_json() for one in found.findings])
    elif not found.findings:
        click.echo(f"nothing found; classes read: {found.classes}")
    else:
        for one in found.findings:
            place = f"{one.class_name}.{one.method}" if one.method else one.class_name
            click.secho(shown(f"{place}: {one.what}"), bold=True)
            click.echo(f"    {one.trap.why}")
            click.echo(f"    fix: {one.trap.fix}")
    return ExitStatus.DIFFERENT if found.findings else ExitStatus.DONE
