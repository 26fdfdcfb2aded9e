"""`vas lab`: a site on this machine, to run jobs in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
from click.core import ParameterSource

from vas_cluster import parse_cluster
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.lazy import LazyGroup
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_lab import completion, report, views
from vas_lab.disk import check_disk, free_bytes, used_bytes
from vas_lab.display import display
from vas_lab.ending import end_lab
from vas_lab.hadoop.daemons import java
from vas_lab.hadoop.logs import known_logs
from vas_lab.lab import Lab
from vas_lab.netlab.command import net
from vas_lab.network.topology import plan_topology
from vas_lab.options import LabOptions, read_site
from vas_lab.spec import LabLinks
from vas_lab.state import (
    default_directory,
    is_running,
    is_starting,
    labs,
    labs_up,
    last_up_seconds,
    name_option,
    wipe,
)
from vas_lab.workflows import Workflow, workflow
from vas_yarn.jobs.job import JobResult
from vas_yarn.small_cluster import MAX_HOSTS

_UP_SECONDS = 25.0  # where none came up before
_PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_properties = click.option(
    "-D", "properties", multiple=True, metavar="KEY=VALUE", help="A Hadoop property; repeatable."
)
_name = click.option(
    "--name",
    default="lab",
    show_default=True,
    help="Name of the lab, if several are up.",
    shell_complete=completion.lab_names,
)
_hosts = click.option(
    "--hosts",
    type=click.IntRange(1, MAX_HOSTS),
    default=4,
    show_default=True,
    help="Number of storage servers.",
)


@click.group(cls=LazyGroup)
def lab() -> None:
    """Run a site on this machine: hosts as network namespaces, real YARN, no Lustre needed."""


lab.add_command(net)


@lab.command()
@_name
@_hosts
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    help="Map of the site, instead of --hosts.",
)
@click.option("--plain", is_flag=True, help="Stock Hadoop on file:///, without the VAS plugins.")
@click.option(
    "--links",
    type=click.Choice([each.value for each in LabLinks]),
    default=LabLinks.FREE.value,
    show_default=True,
    help="honest: bytes of files cross the lab's network, at a tenth of the paper's speeds.",
)
@_properties
@click.option(
    "--dry-run", is_flag=True, help="Print the ip commands of its network; start nothing."
)
@json_option
def up(
    name: str, hosts: int, cluster_file: Path | None, plain: bool, links: str,
    properties: tuple[str, ...], dry_run: bool, as_json: bool,
) -> None:  # fmt: skip
    """Start a lab; return when every NodeManager runs.

    Its state is in build/lab/NAME of the clone, or in $VAS_LABS/NAME. Interrupted, it leaves no
    process behind; `vas lab down --wipe` removes its files. `vas lab down` ends a lab.

    \b
    Examples: vas lab up
              vas lab up --hosts 2 --name small
              vas lab up --links honest
              vas lab up --cluster site.yaml -D yarn.scheduler.minimum-allocation-mb=256
    \f
    Raises BadInput where options contradict one another.
    """
    if cluster_file and _is_given("hosts"):
        raise BadInput(
            "the map of --cluster says how many", where="--hosts", hint="give one of the two"
        )
    directory = default_directory(name)
    options = LabOptions(
        state_dir=directory,
        hosts=hosts,
        cluster_file=cluster_file,
        plain=plain,
        links=LabLinks(links),
        properties=_parse_properties(properties),
    )
    if dry_run:
        cluster = parse_cluster(read_site(options), cluster_file or "lab")
        views.print_network(plan_topology(cluster))
        return
    started = _start(options)
    if as_json:
        print_json(report.describe(started))
    else:
        option = name_option(directory)
        note(
            f"up after {started.running.up_seconds:.0f} s; "
            f"`vas lab run{option} terasort`, `vas lab down{option}`"
        )


@lab.command()
@_name
@click.option("--wipe", "with_files", is_flag=True, help="Also delete its files, logs and data.")
@click.option("--dry-run", is_flag=True, help="Print what would be ended and deleted; do nothing.")
def down(name: str, with_files: bool, dry_run: bool) -> None:
    """End a lab: every process, mount and network of it. Its files stay, unless --wipe.

    A lab that is still starting is ended too. Status 0 if it is down afterwards, also if it was
    down before or was never made.

    \b
    Example: vas lab down --wipe
    """
    directory = default_directory(name)
    if dry_run:
        note(
            f"would end the lab in {directory}"
            + (" and delete that directory" if with_files else "")
        )
        return
    if is_running(directory):
        end_lab(directory)
        note(f"lab {name} is down")
    else:
        note(_not_up(name))
    if with_files:
        wipe(directory)


@lab.command()
@_name
@json_option
def status(name: str, as_json: bool) -> int:
    """Show a lab's nodes and daemons, and what in it is real.

    Status 1 when it is not up, or when a daemon is dead or a node is not RUNNING.

    \b
    Example: vas lab status --json
    """
    directory = default_directory(name)
    starting = is_starting(directory)
    if starting or not is_running(directory):
        down = {"name": name, "up": False, "starting": starting, "ok": False}
        if as_json:
            print_json(down | {"state_dir": str(directory)})
        else:
            note(f"lab {name} is starting" if starting else _not_up(name))
        return ExitStatus.FAILED
    found = report.describe(Lab.attach(directory))
    if as_json:
        print_json(found)
    else:
        views.print_status(found)
    return ExitStatus.DONE if found["ok"] else ExitStatus.FAILED


@lab.command(context_settings=_PASS_ON)
@_name
@click.option(
    "--size",
    type=SizeType(),
    default="64M",
    show_default=True,
    help="Size of the input that is generated.",
)
@_properties
@json_option
@click.argument("program", shell_complete=completion.programs)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    name: str, size: int, properties: tuple[str, ...], as_json: bool,
    program: str, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """Run a Hadoop program in a lab, to its end.

    terasort, wordcount, secondarysort and dfsio make their own input when no ARGUMENTS are
    given. With ARGUMENTS these and Hadoop's other examples, or a jar, run as they are;
    options of `vas lab run` itself stand before the program.
    Paths are below the lab's Lustre mount. Interrupted, the job is killed.

    \b
    Examples: vas lab run --size 256M terasort
              vas lab run -D mapreduce.job.reduces=4 terasort /in /out
              vas lab run my.jar org.example.Main /in /out

    \f
    Raises BadInput for wrong arguments, VasError where the lab or the job fails.
    """
    here = Lab.attach(default_directory(name))
    chosen = _parse_properties(properties)
    made_up = None if arguments else workflow(program, size)
    _say_broken(here)
    if made_up:
        old = used_bytes(here.spec.lustre_state / f"data{made_up.directory}")
        check_disk(free_bytes(here.spec.state_dir) + old, size=size, copies=made_up.copies)
        results = _run_workflow(here, made_up, chosen)
    else:
        results = [_run_one(here, (program, *arguments), chosen)]
    if as_json:
        print_json([result.model_dump(mode="json") for result in results])


@lab.command(context_settings=_PASS_ON)
@_name
@click.argument(
    "words",
    metavar="[NODE] [--] [COMMAND]...",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=completion.nodes,
)
def shell(name: str, words: tuple[str, ...]) -> int:
    """Open a shell on a node of a lab, or run a command there.

    Without NODE the shell is on the ResourceManager's node. Nodes are the map's hosts and guests.
    Ends with the command's status.

    \b
    Examples: vas lab shell vm1
              vas lab shell oss2 -- ip addr
              vas lab shell -- lfs df /run/lustre

    \f
    Raises BadInput for a node that the lab does not have.
    """
    here = Lab.attach(default_directory(name))
    node, command = _node_and_command(here, words)
    argv = here.enter(command or _interactive(here, name, node), node=node)
    return subprocess.run(argv, check=False).returncode


@lab.command()
@_name
@click.argument("what", required=False, shell_complete=completion.logs)
def logs(name: str, what: str | None) -> int:
    """Print the log of a daemon, of the supervisor or of an application.

    Without WHAT, list the logs. The supervisor's log says which daemons died, and of what.

    \b
    Examples: vas lab logs
              vas lab logs nodemanager-vm1
              vas lab logs application_1700000000000_0001
    \f
    Raises BadInput for a lab or a log that does not exist.
    """
    directory = default_directory(name)
    if what and what.startswith("application_"):
        return _application_logs(Lab.attach(directory), what)
    known = known_logs(directory)
    if not known:
        raise BadInput("no lab of that name", where=name, hint=_known_labs())
    if what is None:
        print_table(("LOG", "SIZE"), [(n, format_size(p.stat().st_size)) for n, p in known.items()])
    elif what in known:
        click.echo(known[what].read_text(errors="replace"), nl=False)
    else:
        raise BadInput("no such log", where=what, hint=f"one of {', '.join(known)}")
    return ExitStatus.DONE


def _start(options: LabOptions) -> Lab:
    """Starts a lab that stays up; of one that did not come up, says how to remove its files."""
    directory, is_new = options.state_dir, not options.state_dir.exists()
    expected = last_up_seconds(directory) or _UP_SECONDS
    try:
        with display(f"lab {directory.name}", expected) as show:
            return Lab.start(options, tied=False, on_event=show)
    except (VasError, KeyboardInterrupt):
        if is_new and directory.exists() and not is_running(directory):
            option = name_option(directory)
            note(f"its files are in {directory}; `vas lab down --wipe{option}` removes them")
        raise


def _parse_properties(properties: tuple[str, ...]) -> dict[str, str]:
    parsed = {}
    for text in properties:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadInput("not KEY=VALUE", where=f"-D {text}", hint="write it like -D a.b=c")
        parsed[key] = value
    return parsed


def _run_workflow(here: Lab, made_up: Workflow, properties: dict[str, str]) -> list[JobResult]:
    directory = here.spec.cluster.lustre.mount + made_up.directory
    here.call(["sh", "-euc", made_up.prepare, "sh", directory])
    return [_run_one(here, step, made_up.properties | properties) for step in made_up.steps]


def _run_one(here: Lab, argv: tuple[str, ...], properties: dict[str, str]) -> JobResult:
    with display(argv[0]) as show:
        result = here.run_job(argv, properties, on_event=show)
    views.note_job(argv[0], result)
    return result


def _say_broken(here: Lab) -> None:
    """Notes what jobs survive; raises VasError for what they do not."""
    for problem in here.problems():
        if problem.stops_jobs:
            raise VasError(problem.what, where=f"lab {here.spec.name}", hint=problem.fix)
        note(f"vas: lab {here.spec.name}: {problem}")


def _is_given(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


def _known_labs() -> str:
    found = labs()
    return f"labs: {', '.join(found)}" if found else "`vas lab up` makes one"


def _not_up(name: str) -> str:
    others = labs_up()
    return f"lab {name} is not up" + (f"; up: {', '.join(others)}" if others else "")


def _node_and_command(here: Lab, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """Raises BadInput for a first word that is neither a node nor a program of the lab."""
    if words[:1] in ((), ("--",)):
        return None, words[1:]
    first, rest = words[0], words[1:]
    if first in here.nodes():
        return first, rest[1:] if rest[:1] == ("--",) else rest
    if here.call(["sh", "-c", 'command -v "$1"', "sh", first], check=False).status != 0:
        hint = f"nodes: {', '.join(here.nodes())}"
        raise BadInput("no such node, and no such program", where=first, hint=hint)
    return None, words


def _interactive(here: Lab, name: str, node: str | None) -> tuple[str, ...]:
    """Returns the command of a shell whose prompt names lab and node; says what to try there."""
    site = here.spec.cluster
    at = node or site.yarn.resourcemanager.name
    tries = (
        f"ls {site.lustre.mount}",
        "yarn application -list -appStates ALL",
        "vas job locality ID",
    )
    if sys.stdin.isatty():
        note(f"lab {name}, node {at}; try: {'; '.join(tries)}; exit leaves the lab up")
    return ("env", f"PS1={name}:{at}:\\w\\$ ", "bash", "--norc")


def _application_logs(here: Lab, application: str) -> int:
    main = ["org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId", application]
    argv = here.enter(java(here.spec, ["-Xmx128m", *main]))
    return subprocess.run(argv, check=False).returncode
