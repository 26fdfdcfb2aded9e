"""The command `vas route calibrate`."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from vas_cluster import Cluster, default_path, load_cluster, load_site
from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus, NotHere
from vas_core.process import run
from vas_core.table import print_table
from vas_routing.calibrate import iperf, table
from vas_routing.calibrate.cases import six_cases
from vas_routing.calibrate.in_lab import InLab
from vas_routing.calibrate.measure import CalibrationPlan, measure, script
from vas_routing.calibrate.on_site import OnSite
from vas_routing.calibrate.result import CalibrationVerdict, chosen
from vas_routing.calibrate.steering import RouteCommands, address_of
from vas_routing.choices import DEFAULT_CHOICES, read_choices, write_choices
from vas_routing.options import STATE
from vas_routing.settings import DEFAULT_PATH

_INSIDE = "--inside-lab"
_file = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The options that the user gave to `vas route calibrate`."""

    cluster_file: Path | None
    node: str | None
    config: Path
    choices: Path | None
    state: Path
    runs: int
    seconds: int
    output: Path | None
    as_json: bool
    dry_run: bool

    def site(self) -> Cluster:
        """Returns the cluster map. Raises BadInput if there is none, DocumentProblems if it is
        wrong."""
        if self.cluster_file:
            return load_cluster(self.cluster_file)
        return load_site("name it by --cluster")

    def plan(self, cluster: Cluster, node: str) -> CalibrationPlan:
        """Returns what to measure from a guest. Raises BadInput where the map lacks what it
        needs."""
        return CalibrationPlan(cluster, six_cases(cluster, node), self.runs, self.seconds)

    def words(self) -> list[str]:
        """Returns the options that also hold inside a lab, as words of a command line."""
        pairs = {
            "--node": self.node,
            "--config": self.config,
            "--choices": self.choices,
            "--runs": self.runs,
            "--seconds": self.seconds,
            "--output": self.output,
        }
        flags = {"--json": self.as_json, "--dry-run": self.dry_run}
        words = [str(word) for pair in pairs.items() if pair[1] is not None for word in pair]
        return [*words, *(name for name, context in flags.items() if context)]

    def commands(self, choices: Path) -> RouteCommands:
        """Returns the builder of `vas route` command lines; `choices` is the file to follow."""
        return RouteCommands(self.cluster_file or default_path(), self.config, choices)


@click.command()
@click.option("--lab", "in_lab", is_flag=True, help="Measure in a made-up network on this machine.")
@click.option("--serve", is_flag=True, help="Run the server for another guest's measurement.")
@click.option("--for", "for_seconds", type=click.IntRange(1), help="Seconds to serve.")
@click.option(
    "--pid-file", type=_file, help="File for the process id of the server while it serves."
)
@click.option(
    "--cluster", "cluster_file", type=_file, help="The cluster map.  [default: $VAS_CLUSTER]"
)
@click.option("--node", help="Guest that measures.  [default: this one; in a lab: the first]")
@click.option(
    "--config",
    type=_file,
    default=DEFAULT_PATH,
    help="Settings of the route switcher, a YAML file.",
)
@click.option("--choices", type=_file, help="Choices that the switcher follows now, a JSON file.")
@click.option("--state", type=_file, default=STATE, help="State directory of the switcher.")
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Number of measurements of each case.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=2,
    show_default=True,
    help="Seconds of each measurement, in each direction.",
)
@click.option("--output", type=_file, help="File to write the choices for the switcher to.")
@click.option(
    "--dry-run", is_flag=True, help="Print the commands; do not measure or change anything."
)
@click.option(_INSIDE, "inside", is_flag=True, hidden=True)
@json_option
def calibrate(
    in_lab: bool,
    serve: bool,
    inside: bool,
    for_seconds: int | None,
    pid_file: Path | None,
    **context: Any,
) -> int:
    """Measure the six cases of the paper's Table 4.1 with iperf3, and judge the switcher by them.

    It measures from a guest to its own host, to another host and to that host's guest, each by
    virtio and by SR-IOV, in both directions. Status 3 if the switcher takes the slower leg; a
    difference within the spread counts as equal.

    On a site, vas-routed must run on these four nodes, and `vas route calibrate --serve` on the
    last three. --lab needs nothing but iperf3; its links are a tenth as fast as the paper's.
    Without iperf3 the status is 77.

    \b
    Examples: vas route calibrate --lab
              vas route calibrate --serve
              vas route calibrate --runs 5 --output /var/lib/vas/route-choices.json

    \f
    Raises NotHere without iperf3.
    """
    if shutil.which(iperf.PROGRAM) is None:
        raise NotHere("iperf3 is not installed", hint="run `vas doctor` for the package")
    options = CalibrationOptions(**context)
    if in_lab:
        return _around_lab(options)
    if serve:
        return _serve(options, for_seconds, pid_file)
    # In a lab it lies beside the map, in the lab's own /run: however the lab ends, it goes too.
    beside = default_path().parent if inside else None
    with tempfile.TemporaryDirectory(prefix="vas-calibrate-", dir=beside) as directory:
        return (_inside_lab if inside else _on_site)(options, Path(directory))


def _around_lab(options: CalibrationOptions) -> int:
    """Starts this command inside a lab. A lab is another room's: it is called as a user would."""
    vas = [sys.executable, "-P", "-m", "vas_core"]
    cluster = ["--cluster", str(options.cluster_file)] if options.cluster_file else []
    inner = [*vas, "route", "calibrate", _INSIDE, *options.words()]
    argv = [*vas, "lab", "net", "--shaped", *cluster, "--", *inner]
    if options.dry_run:
        click.echo(shlex.join(argv))
    return subprocess.run(argv, check=False).returncode


def _serve(options: CalibrationOptions, for_seconds: int | None, pid_file: Path | None) -> int:
    cluster = options.site()
    node = cluster.name_of(options.node or socket.gethostname())
    argv = iperf.server(address_of(cluster, node), pid_file)
    if options.dry_run:
        click.echo(shlex.join(argv))
        return ExitStatus.DONE
    try:
        return subprocess.run(argv, check=False, timeout=for_seconds).returncode
    except subprocess.TimeoutExpired:
        return ExitStatus.DONE
    finally:
        if pid_file:
            pid_file.unlink(missing_ok=True)


def _inside_lab(options: CalibrationOptions, directory: Path) -> int:
    """Measures in the network of a lab, which nobody has routed."""
    cluster = options.site()
    plan = options.plan(cluster, cluster.name_of(options.node or cluster.guests()[0].name))
    choices = options.choices or directory / "choices.json"
    if options.choices is None:
        write_choices(choices, {})
    lab = InLab.prepare(cluster, plan.cases, directory, options.commands(choices))
    if options.dry_run:
        return _print_script([*lab.start(), *script(plan, lab)])
    for command in lab.start():
        run(command)
    with lab.servers(plan.destinations):
        return _report(measure(plan, lab, directory), options)


def _on_site(options: CalibrationOptions, directory: Path) -> int:
    """Measures on the guest itself."""
    cluster = options.site()
    plan = options.plan(cluster, cluster.name_of(options.node or socket.gethostname()))
    commands = options.commands(options.choices or DEFAULT_CHOICES)
    site = OnSite(cluster, plan.source, plan.destinations, options.state, commands)
    if options.dry_run:
        return _print_script(script(plan, site))
    site.check()
    return _report(measure(plan, site, directory), options)


def _print_script(commands: Iterable[Sequence[str]]) -> int:
    for command in commands:
        click.echo(shlex.join(command))
    return ExitStatus.DONE


def _report(found: Sequence[CalibrationVerdict], options: CalibrationOptions) -> int:
    if options.output:
        known = read_choices(options.output) if options.output.exists() else {}
        write_choices(options.output, chosen(known, found))
        note(f"written to {options.output}")
    if options.as_json:
        rows = [row.as_json() for verdict in found for row in (verdict.virtio, verdict.sriov)]
        print_json({"cases": rows, "choices": [verdict.as_json() for verdict in found]})
    else:
        print_table(table.COLUMNS, table.rows(found))
        click.echo()
        for verdict in found:
            click.echo(table.sentence(verdict))
    return ExitStatus.DONE if all(verdict.ok for verdict in found) else ExitStatus.DIFFERENT
