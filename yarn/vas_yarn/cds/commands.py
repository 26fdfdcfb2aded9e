"""`vas cds`: the archive of classes that this node's tasks map."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_core.lazy import LazyGroup
from vas_core.shown import counted
from vas_yarn.cds.archive import (
    DEFAULT_DIRECTORY,
    EVERY_TASK,
    ArchiveKind,
    ArchiveState,
    ClassArchive,
    Ingredients,
    class_path_argument,
    jvm_flags,
)
from vas_yarn.cds.class_path import ClassPath, hadoop_class_path, java_home

_directory = click.option(
    "--directory",
    type=click.Path(path_type=Path),
    default=DEFAULT_DIRECTORY,
    envvar="VAS_CDS_DIRECTORY",
    show_default=True,
    show_envvar=True,
    help="Directory of the archive; only its owner may write it.",
)
_class_path = click.option(
    "--classpath",
    help="Class path of the tasks: jars, DIR/*, directories. [default: `hadoop classpath`]",
)


_kind = click.option(
    "--kind",
    type=click.Choice([kind.value for kind in ArchiveKind]),
    default=ArchiveKind.CDS.value,
    show_default=True,
    help="Archive of classes by a list, or JDK 25's cache, which a training run makes.",
)


@click.group(cls=LazyGroup)
def cds() -> None:
    """Make the archive of classes that cuts the start of a node's tasks."""


@cds.command()
@_directory
@_class_path
@_kind
@json_option
def build(directory: Path, classpath: str | None, kind: str, as_json: bool) -> None:
    """Make the archive, if none is there that fits this JDK and these jars.

    It takes some 10 CPU seconds, on each node, once for a JDK and a set of jars.

    \b
    Examples: vas cds build
              vas cds build --kind aot
              vas cds build --classpath '/etc/hadoop/conf:/opt/hadoop/share/hadoop/common/*'
    """
    archive, wanted = ClassArchive(directory, ArchiveKind(kind)), _ingredients(classpath)
    made = archive.build(wanted)
    if as_json:
        print_json({"made": made, **_described(archive, wanted, ArchiveState.FITS)})
    else:
        sentence = _sentence(archive, wanted, ArchiveState.FITS)
        note(f"{'made' if made else 'already there'}: {sentence}")


@cds.command()
@_directory
@_class_path
@_kind
@json_option
def status(directory: Path, classpath: str | None, kind: str, as_json: bool) -> int:
    """Say whether the archive is there, whole, and made of this JDK and these jars.

    Status 3 if not: tasks run all the same, and start more slowly.

    \b
    Examples: vas cds status
              vas cds status --json
    """
    archive, wanted = ClassArchive(directory, ArchiveKind(kind)), _ingredients(classpath)
    state = archive.state(wanted)
    if as_json:
        print_json(_described(archive, wanted, state))
    else:
        click.echo(_sentence(archive, wanted, state))
    if state is not ArchiveState.FITS:
        note("run `vas cds build`" if kind == "cds" else f"run `vas cds build --kind {kind}`")
    return ExitStatus.DONE if state is ArchiveState.FITS else ExitStatus.DIFFERENT


@cds.command()
@_directory
@_class_path
@_kind
@click.option(
    "--of",
    "user",
    type=click.Choice(("tasks", "client")),
    default="tasks",
    show_default=True,
    help="JVMs that read the file: those of tasks and masters, or clients (without a job's files).",
)
def arguments(directory: Path, classpath: str | None, kind: str, user: str) -> None:
    """Print the argument file by which JVMs use the archive: flags, and the class path.

    \b
    Examples: vas cds arguments > /etc/hadoop/conf/vas-child.args
              vas cds arguments --of client > /etc/hadoop/conf/vas-client.args
    """
    found = ClassPath.of(classpath or hadoop_class_path())
    jars = ":".join(map(str, found.jars))
    for line in (
        *(EVERY_TASK if user == "tasks" else ()),
        *jvm_flags(ClassArchive(directory, ArchiveKind(kind)).file),
        class_path_argument(jars, found.directories, of_a_job=user == "tasks"),
    ):
        click.echo(line)


def _ingredients(classpath: str | None) -> Ingredients:
    return Ingredients(java_home(), ClassPath.of(classpath or hadoop_class_path()).jars)


def _described(
    archive: ClassArchive, wanted: Ingredients, state: ArchiveState
) -> dict[str, object]:
    size = archive.file.stat().st_size if archive.file.exists() else 0
    return {
        "archive": str(archive.file),
        "state": state.value,
        "bytes": size,
        "java": wanted.java,
        "jars": len(wanted.jars),
    }


def _sentence(archive: ClassArchive, wanted: Ingredients, state: ArchiveState) -> str:
    return f"{archive.file}: {state.value}; JDK {wanted.java}, {counted(len(wanted.jars), 'jar')}"
