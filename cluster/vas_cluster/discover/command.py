"""`vas cluster discover`: drafts a map on a machine that has mounted the file system."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from vas_cluster.discover.client import LOOPBACK, SeenClient, SeenServer, read_client, with_own_nids
from vas_cluster.discover.draft import draft
from vas_cluster.discover.server import Ask, SeenMachine, ask_server
from vas_cluster.loading import parse_cluster
from vas_core.cli import note, note_error
from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.files import write_atomically
from vas_core.problems import DocumentProblems
from vas_core.process import run
from vas_core.root import Root
from vas_core.shown import counted

_NODE = "{node}"
_ANSWER_SECONDS = 20.0


@click.command()
@click.option("--mount", help="Mount point of the file system. [default: the only one]")
@click.option(
    "--reach",
    help="Command that runs a program on a server, by its address: 'ssh root@{node}'."
    " [default: servers are not asked]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the map; it must not exist. [default: standard output]",
)
def discover(mount: str | None, reach: str | None, out: Path | None) -> int:
    """Draft a map from this machine's mounted Lustre, and from its servers.

    It only reads. A line `# FILL IN` stands for a value that could not be read. Problems of the
    draft are printed after it, one per line. Run it as root: only root may read who takes over a
    server's OSTs.

    \b
    Examples: vas cluster discover
              vas cluster discover --reach 'ssh root@{node}' --out site.yaml
    \f
    Returns 0 if the draft is a valid map, 3 if lines are to be filled in. Raises BadInput if Lustre
    is not mounted, for a --reach without {node}, and if the file of --out exists.
    """
    if reach is not None and _NODE not in reach:
        raise BadInput(f"{reach!r} has no {_NODE}", where="--reach", hint="'ssh root@{node}'")
    if out and out.exists():
        raise BadInput("is there already", where=str(out), hint="name another file")
    client = _resolved(read_client(Root(), mount))
    if not client.servers:
        raise BadInput("the client knows no OST", where=client.mount, hint="is it connected?")
    machines = [(each, _asked(each, reach, client.fsname)) for each in client.servers]
    text = draft(client, machines)
    if out:
        write_atomically(out, text)
        servers = counted(len(machines), "server")
        note(f"{out}: {servers}; fill in what is marked, then `vas cluster check`")
    else:
        click.echo(text, nl=False)
    return _check(text, out)


def _resolved(client: SeenClient) -> SeenClient:
    """Asks this machine for its own NIDs if it serves OSTs itself."""
    if all(server.nid != LOOPBACK for server in client.servers):
        return client
    try:
        own = run(["lctl", "list_nids"], timeout_seconds=_ANSWER_SECONDS).stdout.split()
    except VasError as wrong:
        note(f"this machine serves OSTs, and its NID is not known: {wrong}")
        own = []
    return with_own_nids(client, own)


def _asked(server: SeenServer, reach: str | None, fsname: str) -> SeenMachine:
    address = server.nid.partition("@")[0]
    if reach is None:
        return SeenMachine(unseen=("servers were not asked: give --reach",))
    if server.nid == LOOPBACK:
        return SeenMachine(unseen=("it is this machine, whose address is not known",))
    return ask_server(_ask(reach, address), address, fsname)


def _ask(reach: str, address: str) -> Ask:
    before = [word.replace(_NODE, address) for word in shlex.split(reach)]
    return lambda argv: run([*before, *argv], timeout_seconds=_ANSWER_SECONDS).stdout


def _check(text: str, out: Path | None) -> int:
    try:
        parse_cluster(text, out or "the draft")
    except DocumentProblems as wrong:
        note_error(wrong)
        return ExitStatus.DIFFERENT
    return ExitStatus.DONE
