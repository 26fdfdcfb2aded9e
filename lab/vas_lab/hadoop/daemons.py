"""Lists the daemons of a lab, with their nodes and command lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_lab.hadoop.configuration import jvm_flags
from vas_lab.hadoop.hdfs import NAME_NODE, data_node, names_directory
from vas_lab.spec import LabSpec

RESOURCE_MANAGER = "resourcemanager"
JOB_HISTORY = "jobhistory"
MDS = "mds"
LINKS = "links"
_YARN = "org.apache.hadoop.yarn.server"
_HDFS = "org.apache.hadoop.hdfs.server"
# A NameNode refuses racks of different depths, as VAS's are from where names are not known.
_FLAT = "net.topology.node.switch.mapping.impl=org.apache.hadoop.net.ScriptBasedMapping"
# $1 is made by the first start.
_FORMATTED = 'names=$1; shift; [ -e "$names" ] || "$@" -format -force -nonInteractive; exec "$@"'


@dataclass(frozen=True, kw_only=True)
class LabDaemon:
    """A program that runs on one node as long as the lab does."""

    name: str
    node: str
    argv: tuple[str, ...]
    preload: bool = True


def node_manager(guest: str) -> str:
    """Returns the name of a guest's NodeManager."""
    return f"nodemanager-{guest}"


def yarn_daemons(spec: LabSpec) -> list[LabDaemon]:
    """Returns the ResourceManager, the JobHistoryServer and a NodeManager for each guest."""
    master = spec.cluster.yarn.resourcemanager.name
    history = "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"
    managers = [
        (RESOURCE_MANAGER, master, 300, f"{_YARN}.resourcemanager.ResourceManager"),
        *(
            (node_manager(guest), guest, 160, f"{_YARN}.nodemanager.NodeManager")
            for guest in _guests(spec)
        ),
        (JOB_HISTORY, master, 200, history),
    ]
    return [
        LabDaemon(name=name, node=node, argv=java(spec, [f"-Xmx{heap}m", main]))
        for name, node, heap, main in managers
    ]


def hdfs_daemons(spec: LabSpec) -> list[LabDaemon]:
    """Returns a NameNode, which is formatted if it is new, and a DataNode for each guest."""
    names = java(spec, ["-Xmx160m", f"{_HDFS}.namenode.NameNode", "-D", _FLAT])
    formatted = ("sh", "-euc", _FORMATTED, "sh", str(names_directory(spec)), *names)
    blocks = java(spec, ["-Xmx160m", f"{_HDFS}.datanode.DataNode"])
    master = spec.cluster.yarn.resourcemanager.name
    nodes = [(data_node(guest), guest, blocks) for guest in _guests(spec)]
    return [
        LabDaemon(name=name, node=node, argv=argv, preload=False)
        for name, node, argv in ((NAME_NODE, master, formatted), *nodes)
    ]


def java(
    spec: LabSpec, arguments: Sequence[str], conf: Path | None = None, jars: Sequence[Path] = ()
) -> tuple[str, ...]:
    """Returns the command line of a JVM whose class path is `jars`, Hadoop and a configuration.

    `arguments` begin with the class; `conf` None is the lab's configuration.
    """
    classpath = ":".join((*map(str, jars), spec.jars, str(conf or spec.conf)))
    # Named, because a jar of Hadoop's tests has a log4j.properties too, earlier on the path.
    log4j = f"-Dlog4j.configuration=file:{spec.conf}/log4j.properties"
    return (str(spec.java), *jvm_flags(spec), log4j, "-cp", classpath, *arguments)


def _guests(spec: LabSpec) -> list[str]:
    return [guest.name for guest in spec.cluster.guests()]
