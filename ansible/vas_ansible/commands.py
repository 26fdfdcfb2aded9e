"""`vas provision`: prepares the files that `ansible-playbook` needs in addition to the map."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import click

from vas_ansible import audit as audit_module
from vas_ansible.archives import PYTHON, archive_hadoop, archive_wheels
from vas_ansible.audit import ADVISORIES
from vas_ansible.licences import LICENCES, licence_problems, read_licences
from vas_ansible.monitoring import DIRECTORY, RUNBOOKS, monitoring_files
from vas_cluster import load_cluster
from vas_cluster.loading import default_path
from vas_core.cli import note
from vas_core.errors import BadInput, VasError
from vas_core.lazy import Later, LazyGroup
from vas_core.sbom import SbomComponent
from vas_yarn.jars import find_spark_shuffle

_file = click.argument("file", type=click.Path(path_type=Path))


def _pythons(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for python in given:
        if not re.fullmatch(r"3\.\d+", python) or int(python[2:]) < int(PYTHON[2:]):
            hint = f"VAS runs on {PYTHON} and newer, like --python {PYTHON}"
            raise BadInput("is not a supported Python", where=python, hint=hint)
    return given


# Its checks need Ansible's library, which only the extra `provision` brings: not a node.
_LATER = {
    "firewall": Later(
        "vas_ansible.firewall_command:firewall",
        "Print firewall rules that let in only needed traffic.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def provision() -> None:
    """Prepare the files that playbooks hand to nodes (docs/provisioning.md)."""


@provision.command()
@_file
@click.option(
    "--python",
    "pythons",
    metavar="3.N",
    multiple=True,
    default=[PYTHON],
    show_default=True,
    callback=_pythons,
    help="Python version of the nodes; give several where nodes differ.",
)
def wheels(file: Path, pythons: tuple[str, ...]) -> None:
    """Write VAS and its libraries, for nodes without an index.

    FILE is a tar of wheels; the inventory names it as vas_program_archive. Debian 12 and Rocky 9
    have Python 3.11, Debian 13 has 3.13. Only this command needs the package index, not the nodes.

    \b
    Example: vas provision wheels build/vas-wheels.tar --python 3.11 --python 3.13
    """
    note("fetching the libraries (some 100 MB, once)")
    count = archive_wheels(file, pythons)
    note(f"{file}: {count} wheels; set vas_program_archive to it")


@provision.command()
@_file
def hadoop(file: Path) -> None:
    """Write Hadoop and the plugins, as the lab runs them.

    FILE is a tar of jars; the inventory names it as vas_hadoop_archive. Spark's shuffle manager is
    in it after `vas spark get`.

    \b
    Example: vas build && vas provision hadoop build/vas-hadoop.tar
    """
    count = archive_hadoop(file)
    note(f"{file}: {count} jars; set vas_hadoop_archive to it")
    if find_spark_shuffle() is None:
        note("without Spark's shuffle manager; for it: `vas spark get`, then this again")


@provision.command("audit")
@click.option(
    "--advisories",
    type=click.Path(path_type=Path),
    default=ADVISORIES,
    help="List of known vulnerabilities; by default the repository's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print every library and finding as JSON.")
def audit_command(advisories: Path, as_json: bool) -> None:
    """Compare the libraries on nodes with the list of known vulnerabilities.

    Covers Hadoop's jars, the plugins' jar, the locked Python libraries and the crates of
    vas-shuffled. Status 1 if one has a vulnerability that the list does not accept, or a crate a
    licence that is unknown or not allowed. Uses no network.

    \b
    Example: vas build && vas provision audit
    \f
    Raises VasError if a vulnerability or a licence is not accepted.
    """
    known = audit_module.read_advisories(advisories)
    components = audit_module.components_of_nodes()
    findings = audit_module.audit(components, known)
    click.echo(_findings_as_json(components, findings) if as_json else _table(components, findings))
    open_ones = [finding for finding in findings if not finding.advisory.accepted]
    crates = [component for component in components if component.kind == "cargo"]
    wrong = [*map(_sentence, open_ones), *licence_problems(crates, read_licences())]
    if wrong:
        hint = f"update it, or leave it out; {ADVISORIES.name}, {LICENCES.name}"
        raise VasError("; ".join(wrong), hint=hint)


def _sentence(finding: audit_module.AuditFinding) -> str:
    fix = f"fixed in {finding.advisory.fixed}" if finding.advisory.fixed else "never fixed"
    library = f"{finding.component.name} {finding.component.version}"
    return f"{library}: {finding.advisory.identifier}, {fix}"


def _table(
    components: Sequence[SbomComponent], findings: Sequence[audit_module.AuditFinding]
) -> str:
    lines = [
        f"{_sentence(f)}{f.advisory.accepted and f'; accepted: {f.advisory.accepted}'}"
        for f in findings
    ]
    return "\n".join(
        [*lines, f"{len(components)} libraries, {len(findings)} with a known vulnerability"]
    )


def _findings_as_json(
    components: Sequence[SbomComponent], findings: Sequence[audit_module.AuditFinding]
) -> str:
    return json.dumps(
        {
            "libraries": [component.purl() for component in components],
            "findings": [
                {
                    "library": finding.component.purl(),
                    "advisory": finding.advisory.identifier,
                    "fixed": finding.advisory.fixed,
                    "accepted": finding.advisory.accepted,
                }
                for finding in findings
            ],
        },
        indent=1,
    )


@provision.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    default=default_path,
    help="Path of the site's map; $VAS_CLUSTER or /etc/vas/cluster.yaml.",
)
@click.option(
    "--runbooks",
    metavar="URL",
    default=RUNBOOKS,
    help="URL of the site's copy of `docs`, or of the page `vas docs` built, for alerts' links.",
)
def monitoring(directory: Path, cluster_file: Path, runbooks: str) -> None:
    """Write Prometheus' targets and rules, and a dashboard.

    Prometheus reads them in /etc/prometheus/vas, where the role `monitoring` writes them too.
    Its prometheus.yml needs the rule_files and scrape_configs of scrape.yml.

    \b
    Example: vas provision monitoring build/monitoring --runbooks https://docs.hpc.example/vas
    """
    files = monitoring_files(load_cluster(cluster_file), runbooks)
    if "://" not in runbooks:
        note("the links of alerts to the runbook lead nowhere: give --runbooks URL")
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    note(f"{directory}: {', '.join(files)}")
    note(
        f"copy them to {DIRECTORY}, and merge rule_files and scrape_configs of scrape.yml into"
        " prometheus.yml"
    )
