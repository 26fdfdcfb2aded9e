"""`vas cluster`: check, show and describe the PM-to-VM map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from vas_cluster.discover.command import discover
from vas_cluster.hadoop import by_file, configuration_xml, hadoop_properties
from vas_cluster.loading import default_path, load_cluster
from vas_cluster.model import Cluster, Host
from vas_cluster.schema import schema_text
from vas_core.cli import json_option, note, note_error, print_json
from vas_core.errors import BadInput, ExitStatus
from vas_core.files import make_directories, write_atomically
from vas_core.lazy import LazyGroup
from vas_core.problems import DocumentProblems, key_text
from vas_core.shown import counted
from vas_core.table import print_table

_file = click.argument(
    "file", type=click.Path(path_type=Path), required=False, default=default_path
)


@click.group(cls=LazyGroup)
def cluster() -> None:
    """Check and show the site's description, cluster.yaml (the PM-to-VM map)."""


cluster.add_command(discover)


@cluster.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1)
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> int:
    """Check maps: every problem is one line, with its fix.

    Without FILES, checks $VAS_CLUSTER or /etc/vas/cluster.yaml. Status 2 if one is wrong. With
    --json the problems are in the JSON: key, what is wrong, fix.

    \b
    Example: vas cluster check cluster/examples/*.yaml
    """
    checked = [(file, *_check(file)) for file in files or (default_path(),)]
    for file, found, wrong in checked:
        if wrong:
            _say_wrong(file, wrong)
        elif found and not as_json:
            note(f"{file}: ok: {_totals_text(_totals(found))}")
    if as_json:
        print_json([_as_json(*each) for each in checked])
    return ExitStatus.BAD_INPUT if any(wrong for *_, wrong in checked) else ExitStatus.DONE


@cluster.command()
@_file
@json_option
@click.option("--hadoop", is_flag=True, help="Print the Hadoop properties that the map implies.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory to write the properties of --hadoop into, in one file for each that Hadoop"
    " reads; none of these files may exist.",
)
def show(file: Path, as_json: bool, hadoop: bool, out: Path | None) -> None:
    """Show each server's OSTs, partner and VMs.

    \b
    Examples: vas cluster show
              vas cluster show site.yaml --json
              vas cluster show --hadoop > vas-site.xml
              vas cluster show --hadoop --out hadoop-conf
    \f
    Raises BadInput for --out without --hadoop, for a wrong map, and for a file that is there
    already.
    """
    found = load_cluster(file)
    if out and not hadoop:
        raise BadInput("is for Hadoop's files", where="--out", hint="add --hadoop")
    if hadoop and out:
        written = _write(hadoop_properties(found, file.resolve()), out)
        if as_json:
            print_json({"files": [str(each) for each in written]})
    elif hadoop:
        properties = hadoop_properties(found, file.resolve())
        if as_json:
            print_json(properties)
        else:
            click.echo(configuration_xml(properties), nl=False)
    elif as_json:
        print_json(found.model_dump(mode="json", exclude_none=True))
    else:
        _print(found)


@cluster.command()
def schema() -> None:
    """Print the JSON Schema of cluster.yaml.

    \b
    Example: vas cluster schema > cluster.schema.json
    """
    click.echo(schema_text(), nl=False)


def _write(properties: Mapping[str, str], directory: Path) -> list[Path]:
    """Writes Hadoop's files, all or none. Raises BadInput for one that is there already."""
    files = {directory / name: text for name, text in by_file(properties).items() if text}
    for there in (file for file in files if file.exists()):
        hint = "merge the properties by hand, or name another directory"
        raise BadInput("is there already", where=str(there), hint=hint)
    make_directories(directory)
    for file, text in files.items():
        write_atomically(file, configuration_xml(dict(sorted(text.items()))))
        note(f"{file}: {'1 property' if len(text) == 1 else f'{len(text)} properties'}")
    return list(files)


def _check(file: Path) -> tuple[Cluster | None, DocumentProblems | None]:
    """Returns a good map, or the problems of a bad one."""
    try:
        return load_cluster(file), None
    except DocumentProblems as wrong:
        return None, wrong


def _say_wrong(file: Path, wrong: DocumentProblems) -> None:
    note_error(wrong)
    if wrong.hides_more:
        note(f"vas: {file}: more is checked when these are mended")


def _as_json(
    file: Path, found: Cluster | None, wrong: DocumentProblems | None
) -> dict[str, object]:
    if found:
        return {"file": str(file), "ok": True, **_totals(found)}
    assert wrong
    problems = [{"key": key_text(p.path), "what": p.what, "fix": p.fix} for p in wrong.problems]
    told = [{"file": str(file), **problem} for problem in problems]
    return {"file": str(file), "ok": False, "problems": told, "hides_more": wrong.hides_more}


def _totals(found: Cluster) -> dict[str, int]:
    return {
        "hosts": len(found.hosts),
        "guests": len(found.guests()),
        "osts": sum(len(host.osts) for host in found.hosts),
    }


def _totals_text(totals: Mapping[str, int]) -> str:
    nouns = {"hosts": "host", "guests": "guest", "osts": "OST"}
    return ", ".join(counted(totals[key], noun) for key, noun in nouns.items())


def _print(found: Cluster) -> None:
    lustre, manager = found.lustre, found.yarn.resourcemanager
    click.echo(f"site             {found.site}")
    click.echo(
        f"lustre           {lustre.fsname} at {lustre.mount}, MGS {':'.join(lustre.mgs_nids)}"
    )
    click.echo(f"{'':17}{lustre.flock.value}: {lustre.flock.meaning}")
    click.echo(f"resourcemanager  {manager.name} {found.resourcemanager_address}")
    shares = ", ".join(f"{queue.name} {queue.capacity} %" for queue in found.yarn.queues)
    click.echo(f"queues           {shares}\n")
    columns = ("HOST", "ADDRESS", "OSTS", "HA PARTNER", "GUEST", "GUEST ADDRESS", "VCPUS", "MEMORY")
    print_table(columns, (row for host in found.hosts for row in _rows(host)))


def _rows(host: Host) -> Iterator[tuple[object, ...]]:
    """A row for each guest; one for a host without."""
    itself = (host.name, host.address, ",".join(map(str, host.osts)), host.ha_partner or "-")
    for guest in host.guests:
        yield (*itself, guest.name, guest.address, guest.vcpus, guest.memory)
        itself = ("",) * 4
    if not host.guests:
        yield (*itself, *("-",) * 4)
