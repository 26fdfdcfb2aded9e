"""`vas provision`: what `ansible-playbook` needs beside the map."""

from __future__ import annotations

from pathlib import Path

import click

from vas_ansible.archives import archive_hadoop, archive_wheels
from vas_core.cli import note

_file = click.argument("file", type=click.Path(path_type=Path))


@click.group()
def provision() -> None:
    """Make what the playbooks hand to nodes (docs/provisioning.md)."""


@provision.command()
@_file
def wheels(file: Path) -> None:
    """Write VAS and its libraries, for nodes without an index.

    FILE is a tar of wheels for Python 3.11, which Debian 12 and Rocky 9 have; the inventory names
    it as vas_program_archive. Asks the package index once; the nodes never do.

    \b
    Example: vas provision wheels build/vas-wheels.tar
    """
    note("fetching the libraries (some 100 MB, once)")
    count = archive_wheels(file)
    note(f"{file}: {count} wheels; set vas_program_archive to it")


@provision.command()
@_file
def hadoop(file: Path) -> None:
    """Write Hadoop and the plugins, as the lab runs them.

    FILE is a tar of jars; the inventory names it as vas_hadoop_archive.

    \b
    Example: vas build && vas provision hadoop build/vas-hadoop.tar
    """
    count = archive_hadoop(file)
    note(f"{file}: {count} jars; set vas_hadoop_archive to it")
