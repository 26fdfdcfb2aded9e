"""`vas provision`: what `ansible-playbook` needs beside the map."""

from __future__ import annotations

from pathlib import Path

import click

from vas_ansible.archives import archive_hadoop, archive_wheels
from vas_ansible.monitoring import monitoring_files
from vas_cluster import load_cluster
from vas_cluster.loading import default_path
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


@provision.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    default=default_path,
    help="The site's map; $VAS_CLUSTER or /etc/vas/cluster.yaml.",
)
def monitoring(directory: Path, cluster_file: Path) -> None:
    """Write Prometheus' targets and rules, and a dashboard.

    The role `monitoring` writes the same to /etc/prometheus/vas.

    \b
    Example: vas provision monitoring build/monitoring
    """
    files = monitoring_files(load_cluster(cluster_file))
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    note(f"{directory}: {', '.join(files)}; scrape.yml is what prometheus.yml has to say")
