"""`vas submit`: runs a job with a profile's properties."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

from vas_cluster import default_path, load_cluster
from vas_core.cli import json_option, note
from vas_core.errors import BadInput, NotHere
from vas_core.sizes import parse_size
from vas_yarn.lint.contradiction import Contradiction, number
from vas_yarn.lint.rules import contradictions
from vas_yarn.profiles import PROFILES, is_file_name
from vas_yarn.site_files import (
    ROLE_CONFIGURATION,
    as_mapping,
    configuration_directory,
    from_options,
    read_xml,
    site_properties,
)
from vas_yarn.submit.ending import run_and_describe, run_and_lead_on, show
from vas_yarn.submit.entry import find_entry
from vas_yarn.submit.inputs import find_input
from vas_yarn.submit.medium import (
    MEDIA,
    Medium,
    MediumChoice,
    as_asked,
    choose_medium,
    missing_daemon,
)
from vas_yarn.submit.plan import SubmissionPlan, SubmittedJob, plan, split_words
from vas_yarn.submit.rule import Choice, choose

_SPARK = "--spark"


@dataclass(frozen=True)
class _Submission:
    """A submission that is about to run, and the messages about it."""

    choice: Choice
    medium: MediumChoice
    plan: SubmissionPlan
    argv: tuple[str, ...]
    warnings: list[Contradiction]

    def as_json(self) -> dict[str, object]:
        return {
            "profile": self.choice.profile,
            "why": self.choice.why,
            "shuffle": {"medium": self.medium.medium, "why": self.medium.why},
            "command": list(self.argv),
            "properties": dict(self.plan.properties),
            "warnings": [warning.as_json() for warning in self.warnings],
        }


class _Profile(click.Choice[str]):
    """A profile's name, or a file that is one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if is_file_name(value):
            return value
        if value not in self.choices:
            hint = f"name one of {', '.join(self.choices)}, or a Hadoop XML file: FILE.xml"
            raise BadInput(f"has no profile {value}", where="--profile", hint=hint)
        return super().convert(value, param, ctx)


class _SubmitCommand(click.Command):
    """A command that hands over to Spark's where `--spark` comes first."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if args[:1] == [_SPARK]:
            # What it does not need is not imported (its test counts what `vas --help` takes).
            from vas_yarn.spark.submit import submit_spark

            return submit_spark.make_context(f"{info_name} {_SPARK}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=_SubmitCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    _SPARK,
    "spark",
    is_flag=True,
    help="First of all options: run an application of Spark (vas submit --spark --help).",
)
@click.option(
    "--profile",
    type=_Profile(["auto", *PROFILES]),
    default="auto",
    show_default=True,
    help="Profile, or a FILE.xml. auto: chosen by the input's size. off: stock's shuffle.",
)
@click.option(
    "--shuffle",
    type=click.Choice(["auto", *MEDIA]),
    default="auto",
    show_default=True,
    help="Medium of map output. auto: chosen by what the site has.",
)
@click.option(
    "--conf",
    "conf_file",
    type=click.Path(path_type=Path),
    help="Hadoop XML file with more properties, which win over the profile's.",
)
@click.option("--dry-run", is_flag=True, help="Print the command instead of running it.")
@json_option
@click.argument("jar", type=click.Path(path_type=Path))
@click.argument("words", metavar="[CLASS] [ARGS]...", nargs=-1, type=click.UNPROCESSED)
def submit(
    spark: bool,
    profile: str,
    shuffle: Literal["auto"] | Medium,
    conf_file: Path | None,
    dry_run: bool,
    as_json: bool,
    jar: Path,
    words: tuple[str, ...],
) -> int:
    """Run a MapReduce job with a profile's properties, as `hadoop jar JAR [CLASS] [ARGS]...` would.

    CLASS is needed where the jar's manifest names no Main-Class, and is left out where it does. For
    a jar of several programs, as Hadoop's examples, ARGS begin with the program's name. The program
    must read Hadoop's generic options, as those that use Tool do, and Hadoop streaming.

    \b
    Examples: vas submit examples.jar terasort /in /out
              vas submit my-runnable.jar /in /out
              vas submit --shuffle node my-runnable.jar /in /out
              vas submit --profile short --dry-run my.jar org.example.Main -D a=b /in /out
              vas submit hadoop-streaming.jar -files map.py -mapper map.py -input /in -output /out
              vas submit --spark my.py lustre:///PROJECT/in
    \f
    Raises BadInput for a jar that is not there, NotHere without `hadoop`.
    """
    if spark:
        raise BadInput("comes after another option", where=_SPARK, hint=f"vas submit {_SPARK} ...")
    if not jar.is_file():
        raise BadInput("there is no such jar", where=str(jar), hint="name a jar of this machine")
    entry = find_entry(jar, words)
    parts = split_words(entry.words)
    options = {option.key: option.value for option in from_options(parts.options)}
    job = SubmittedJob(jar, entry.leading, parts.rest, options, conf_file, parts.generic)
    if entry.is_of_manifest:
        note(f"{jar.name} starts {entry.main}, which its manifest names")
    found = _prepare(job, profile, shuffle, dry_run)
    _explain(found)
    if dry_run:
        return show(found.argv, found.as_json(), as_json=as_json)
    if as_json:
        return run_and_describe(found.argv, found.as_json())
    return run_and_lead_on(found.argv) if sys.stderr.isatty() else _become(found.argv)


def _prepare(
    job: SubmittedJob, profile: str, shuffle: Literal["auto"] | Medium, dry_run: bool
) -> _Submission:
    site = _site_properties()
    conf = {found.key: found.value for found in read_xml(job.conf)} if job.conf else {}
    asked = site | conf | dict(job.options)
    choice = _chosen(job, asked) if profile == "auto" else Choice(profile, "as asked")
    cluster = load_cluster(default_path()) if default_path().exists() else None
    if shuffle == "auto":
        mount = cluster.lustre.mount if cluster else None
        medium = choose_medium(choice.profile, site, conf | dict(job.options), mount)
    else:
        medium = as_asked(shuffle, choice.profile, asked, conf | dict(job.options))
    made = plan(job, choice.profile, site, conf, medium.switches(asked))
    program = next(filter(shutil.which, _programs()), None)
    if program is None and not dry_run:
        raise NotHere("no program 'hadoop' on PATH", hint="put Hadoop's bin directory there")
    warnings = contradictions(made.configuration, cluster)
    return _Submission(choice, medium, made, (program or "hadoop", *made.arguments), warnings)


def _programs() -> Iterator[str]:
    """The programs that may start the job: the role's first, where its configuration is used."""
    if os.environ.get("HADOOP_CONF_DIR") == str(ROLE_CONFIGURATION):
        yield "/usr/lib/vas/bin/hadoop"
    yield from ("hadoop", "yarn")


def _site_properties() -> dict[str, str]:
    """The site's properties, which the client then reads too: it is told where they are."""
    try:
        directory = configuration_directory()
    except BadInput as nowhere:
        if os.environ.get("HADOOP_CONF_DIR"):  # with another one the job would run elsewhere
            raise
        note(f"vas: {nowhere}; the profile is compared with nothing")
        return {}
    os.environ["HADOOP_CONF_DIR"] = str(directory)
    return site_properties(directory)


def _chosen(job: SubmittedJob, asked: dict[str, str]) -> Choice:
    conf = as_mapping(asked)
    mount = conf.get("vas.lustre.mount")
    if not mount and default_path().exists():
        mount = load_cluster(default_path()).lustre.mount
    if not mount:
        return choose(None, 1)
    block = parse_size(conf.get("vas.lustre.block-size", "128m"))
    found = find_input(job.words, Path(mount), block, home=f"/user/{getuser()}")
    return choose(found, int(number(conf, "mapreduce.job.reduces", 1)))


def _explain(found: _Submission) -> None:
    note(f"profile {found.choice.profile}: {found.choice.why}")
    note(f"shuffle {found.medium.medium or 'unchanged'}: {found.medium.why}")
    if missing := missing_daemon(found.medium, found.plan.properties):
        note(f"warning: {missing}")
    for key, value in found.plan.replaced.items():
        note(f"{key}: {found.plan.properties[key]}; to keep the site's: -D {key}={value}")
    if found.plan.cold:
        note(f"each task gets a JVM of its own: {found.plan.cold} (docs/warm.md)")
    for warning in found.warnings:
        value = f"={warning.value}" if warning.value else ""
        note(f"warning: {warning.key}{value}: {warning.why}; {warning.fix}")


def _become(argv: tuple[str, ...]) -> NoReturn:
    # The client's streams, signals and exit status are then this command's.
    os.execvp(argv[0], argv)  # noqa: S606 (found on PATH, without a shell)
