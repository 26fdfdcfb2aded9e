"""`vas lint`: contradictions in a job's configuration."""

from __future__ import annotations

from pathlib import Path

import click

from vas_cluster import load_cluster
from vas_core.cli import json_option, print_json
from vas_core.errors import BadInput, ExitStatus
from vas_core.shown import shown
from vas_yarn.lint.rules import contradictions
from vas_yarn.site_files import JobConfiguration, from_options, read_xml


@click.command()
@click.argument("jobconf", type=click.Path(path_type=Path), required=False)
@click.option(
    "-D",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Property of the job; wins over the file.",
)
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    help="The site's map; without it, nothing is compared with the guests.",
)
@json_option
def lint(
    jobconf: Path | None, options: tuple[str, ...], cluster_file: Path | None, as_json: bool
) -> int:
    """Find contradictions in a job's configuration (its job.xml, or -D options).

    Status 3 when there are any.

    \b
    Example: vas lint job.xml --cluster /etc/vas/cluster.yaml
             vas lint -D mapreduce.task.io.sort.mb=1024 -D mapreduce.map.java.opts=-Xmx800m
    \f
    Raises BadInput when neither a file nor an option is given.
    """
    if jobconf is None and not options:
        raise BadInput("nothing to look at", hint="name a job.xml, or give -D key=value")
    properties = [*(read_xml(jobconf) if jobconf else []), *from_options(options)]
    cluster = load_cluster(cluster_file) if cluster_file else None
    found = contradictions(JobConfiguration(properties), cluster)
    if as_json:
        print_json([one.as_json() for one in found])
    elif found:
        for one in found:
            click.secho(shown(f"{one.key} = {one.value}"), bold=True)
            click.echo(shown(f"    {one.why}"))
            click.echo(shown(f"    fix: {one.fix}"))
    else:
        click.echo("no contradictions")
    return ExitStatus.DIFFERENT if found else ExitStatus.DONE
