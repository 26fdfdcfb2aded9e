"""Builds the inside of a lab for its supervisor, in order: files, mounts, network, nodes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from vas_cluster.hadoop import configuration_xml
from vas_core.files import write_atomically
from vas_core.root import Root
from vas_lab.enter import into_node
from vas_lab.hadoop.configuration import child_arguments, configuration, hadoop_program, log4j
from vas_lab.hadoop.daemons import LINKS, MDS, LabDaemon
from vas_lab.hadoop.hdfs import WEB_APPS, WEB_XML
from vas_lab.inside import mounts
from vas_lab.inside.nodes import Holder, set_up_nodes
from vas_lab.inside.routes import route_nodes
from vas_lab.links.totals import links_argv
from vas_lab.lustre.stand_in import LabLustre
from vas_lab.network.apply import build_network
from vas_lab.network.paths import PathCounters, read_paths
from vas_lab.network.shaping import shape_network
from vas_lab.network.topology import plan_topology
from vas_lab.spec import LabLinks, LabSpec

_KEPT_VARIABLES = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TERM", "TZ", "USER")


class Inside:
    """The inside of one lab, as its supervisor makes it."""

    def __init__(self, spec: LabSpec) -> None:
        self._spec = spec
        self.holders: dict[str, Holder] = {}
        self.topology = plan_topology(spec.cluster)
        self.lustre = LabLustre(
            state_dir=mounts.RUN_LUSTRE,
            mount=Path(spec.cluster.lustre.mount),
            fsname=spec.cluster.lustre.fsname,
            osts=[index for host in spec.cluster.hosts for index in host.osts],
        )

    def build(self, say: Callable[[str], None]) -> None:
        """Builds everything of a lab except the daemons; calls `say` with each step.

        Raises VasError if a program or the kernel refuses, OSError if a file cannot be written.
        """
        spec = self._spec
        say("writing Hadoop's configuration")
        write_files(spec, self.topology.hosts_file())
        say("mounting the stand-in for Lustre")
        mounts.mount_run()
        mounts.show_lustre_state(spec.lustre_state)
        mounts.bind(spec.conf / "hosts", Path("/etc/hosts"))
        cluster = spec.cluster
        self.lustre.prepare({ost: host.nids[0] for host in cluster.hosts for ost in host.osts})
        mounts.mount_lustre(self.lustre.backing, self.lustre.mount)
        (self.lustre.mount / "yarn/placement").mkdir(parents=True, exist_ok=True)
        say(f"wiring {len(self.topology.nodes) - 1} nodes")
        build_network(self.topology)
        route_nodes(spec.cluster_file)
        if spec.links is LabLinks.HONEST:
            shape_network(cluster, self.topology)
        self.holders = set_up_nodes(self.topology.nodes, self.topology.master, self.lustre.sysfs)
        write_atomically(spec.holders_file, json.dumps(self._pids()))
        write_atomically(
            spec.environment_file, json.dumps(self.environment(preload=True), indent=1)
        )

    def mds(self) -> LabDaemon:
        """Returns the stand-in's MDS as a daemon; it runs without the preloaded library."""
        argv = tuple(self.lustre.mds_argv())
        return LabDaemon(name=MDS, node=self.topology.master, argv=argv, preload=False)

    def links(self) -> LabDaemon | None:
        """Returns the daemon of honest links; None where bytes need not cross any."""
        if self._spec.links is LabLinks.FREE:
            return None
        argv = links_argv(self._spec.cluster_file, self.lustre.state_dir)
        return LabDaemon(name=LINKS, node=self.topology.master, argv=argv, preload=False)

    def command(self, daemon: LabDaemon) -> tuple[list[str], Mapping[str, str]]:
        """Returns the command line and environment by which the supervisor starts a daemon."""
        env = self.environment(preload=daemon.preload) | {"VAS_NODE": daemon.node}
        return [*into_node(self._pids().get(daemon.node)), *daemon.argv], env

    def paths(self) -> list[PathCounters]:
        """Returns the counters of each leg of each guest."""
        held: dict[str, int | str] = {self.topology.master: "self"}
        held |= {node: h.pid for node, h in self.holders.items() if h.returncode is None}
        return read_paths(Root(), self._spec.cluster, held)

    def _pids(self) -> dict[str, int]:
        return {node: holder.pid for node, holder in self.holders.items()}

    def environment(self, *, preload: bool) -> dict[str, str]:
        """Returns the environment of every program in the lab.

        With `preload` it loads the library that makes the mount a Lustre.
        """
        spec = self._spec
        env = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        # Last, so that in the lab's shell there is a `vas` and the system's own python3.
        path = env.get("PATH", os.defpath)
        env["PATH"] = f"{spec.bin}:{path}:{Path(sys.executable).parent}"
        env["JAVA_HOME"] = str(spec.java_home)
        env["HADOOP_CONF_DIR"] = str(spec.conf)
        env["VAS_CLUSTER"] = str(spec.cluster_file)
        env["VAS_CDS_DIRECTORY"] = str(spec.archive.file.parent)
        if spec.spark_jars:
            # Spark gives it to its driver and its executors, behind its own jars.
            env["SPARK_DIST_CLASSPATH"] = spec.spark_jars
        return self.lustre.environment(env) if preload else env


def write_files(spec: LabSpec, hosts_file: str) -> None:
    """Writes Hadoop's configuration; deletes the logs and node directories of an earlier start.

    `hosts_file` is the text of /etc/hosts. Raises OSError.
    """
    shutil.rmtree(spec.state_dir / "nodes", ignore_errors=True)
    shutil.rmtree(spec.logs, ignore_errors=True)
    made = (spec.conf, spec.bin, spec.logs, spec.temporary, spec.lustre_state, spec.node_dir("rm"))
    for directory in made:
        directory.mkdir(parents=True, exist_ok=True)
    for app in WEB_APPS if spec.hdfs else ():
        described = spec.conf / "webapps" / app / "WEB-INF/web.xml"
        described.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(described, WEB_XML)
    for name, properties in configuration(spec).items():
        write_atomically(spec.conf / name, configuration_xml(properties))
    write_atomically(spec.child_arguments, child_arguments(spec))
    for name in ("hadoop", "hdfs", "yarn", "mapred"):
        write_atomically(spec.bin / name, hadoop_program(spec), mode=0o755)
    write_atomically(spec.conf / "log4j.properties", log4j())
    write_atomically(spec.conf / "hosts", hosts_file)
