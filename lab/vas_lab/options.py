"""Checks a user's options for a lab, and writes the lab's map and spec."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vas_cluster import Cluster, load_cluster, parse_cluster
from vas_core.errors import BadInput, NotHere
from vas_core.files import write_atomically
from vas_core.process import run
from vas_core.root import Root
from vas_lab.disk import check_disk, free_bytes
from vas_lab.network.topology import plan_topology
from vas_lab.procfs import available_memory
from vas_lab.sites import check_memory, check_mount, lab_site_yaml
from vas_lab.spec import LabLinks, LabSpec, find_java
from vas_lab.state import running_file
from vas_yarn.jars import find_hadoop, find_plugins


@dataclass(frozen=True, kw_only=True)
class LabOptions:
    """A lab of `hosts` equal storage servers, or of the site in `cluster_file`.

    `properties` override Hadoop's configuration; `plain` leaves the VAS plugins out, `hdfs` adds
    HDFS's daemons. With honest `links` the bytes of files cross the lab's network (docs/lab.md).
    A job that has not ended after `job_limit_seconds` is killed.
    """

    state_dir: Path
    hosts: int = 4
    cluster_file: Path | None = None
    plain: bool = False
    hdfs: bool = False
    links: LabLinks = LabLinks.FREE
    job_limit_seconds: float | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def prepare(options: LabOptions) -> LabSpec:
    """Checks the options and this machine before a lab's start; writes its map and spec.

    Raises BadInput for wrong options, a wrong map, or too little disk or memory; NotHere or another
    VasError if this machine lacks something; OSError if a file cannot be written.
    """
    state_dir = options.state_dir.resolve()
    # First: what the last start noted must not be taken for this one's.
    running_file(state_dir).unlink(missing_ok=True)
    if state_dir.is_relative_to("/run"):
        raise BadInput("a lab has a /run of its own", where=str(state_dir), hint="choose another")
    check_disk(free_bytes(state_dir))
    text = read_site(options)
    cluster = parse_cluster(text, options.cluster_file or "lab")
    check_mount(Path(cluster.lustre.mount))
    check_site(cluster, hdfs=options.hdfs)
    spec = LabSpec(
        name=state_dir.name,
        state_dir=state_dir,
        hadoop_lib=find_hadoop(),
        plugin_jar=None if options.plain else find_plugins(),
        java_home=find_java(),
        user_namespace=user_namespaces(),
        properties=dict(options.properties),
        hdfs=options.hdfs,
        links=options.links,
        job_limit_seconds=options.job_limit_seconds,
    )
    spec.archive.build(spec.ingredients)
    write_atomically(spec.cluster_file, text)
    write_atomically(state_dir / "spec.json", spec.model_dump_json(indent=1))
    return spec


def read_site(options: LabOptions) -> str:
    """Returns the cluster map of the options as text. Raises BadInput if it is wrong."""
    if options.cluster_file is None:
        return lab_site_yaml(options.hosts)
    load_cluster(options.cluster_file)
    return options.cluster_file.read_text(encoding="utf-8")


def check_site(cluster: Cluster, *, hdfs: bool = False) -> None:
    """Raises BadInput for a site that cannot be a lab on this machine: without guests, too large
    for its memory, or of addresses that cannot share a network."""
    guests = cluster.guests()
    if not guests:
        raise BadInput("no host has a guest", where="hosts", hint="YARN runs in the guests")
    check_memory(len(guests), available_memory(Root()), hdfs=hdfs)
    plan_topology(cluster)


def user_namespaces() -> bool:
    """Returns whether a lab runs in a user namespace; if not, it runs as root.

    Raises NotHere if the kernel allows neither, or if a program is missing.
    """
    for program in ("unshare", "nsenter", "ip", "tc", "mount"):
        if shutil.which(program) is None:
            raise NotHere(f"no {program} on PATH", hint="run `vas doctor` for the package")
    kinds = ["--mount", "--pid", "--net", "--uts", "--fork"]
    if run(["unshare", "--user", "--map-root-user", *kinds, "true"], check=False).status == 0:
        return True
    refused = run(["unshare", *kinds, "true"], check=False)
    if refused.status != 0:
        raise NotHere(
            f"no namespaces: {refused.stderr.strip()}", hint="run `vas doctor` for the fix"
        )
    return False
