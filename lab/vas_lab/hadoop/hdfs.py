"""Configures HDFS in a lab, for comparisons: a NameNode, and a DataNode in each guest. Pure.

YARN keeps its own files on Lustre. A job is put on HDFS by its paths and by
`vas_yarn.jobs.systems.hdfs_job_properties`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vas_cluster import Cluster
from vas_lab.spec import LabSpec

NAME_NODE = "namenode"
# The hadoop-hdfs jar has none of these, and neither daemon starts its web interface without.
WEB_APPS = ("hdfs", "datanode")
WEB_XML = '<web-app xmlns="http://xmlns.jcp.org/xml/ns/javaee" version="3.1"/>\n'
_RPC_PORT = 8020
_WEB_PORT = 9870
# Where the NameNode says how it is.
STATE_PATH = "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"


def data_node(guest: str) -> str:
    """Returns the name of a guest's DataNode."""
    return f"datanode-{guest}"


def hdfs_root(cluster: Cluster) -> str:
    """Returns the URI that paths in the lab's HDFS begin with."""
    return f"hdfs://{cluster.yarn.resourcemanager.name}:{_RPC_PORT}"


def name_node_web(cluster: Cluster) -> str:
    """Returns the address of the NameNode's web interface."""
    return f"http://{cluster.yarn.resourcemanager.name}:{_WEB_PORT}"


def live_data_nodes(state: Mapping[str, Any]) -> int:
    """Returns the number of DataNodes in a NameNode's answer at STATE_PATH; 0 before it is up."""
    beans = state.get("beans") or [{}]
    found = beans[0]
    return int(found.get("NumLiveDataNodes", 0)) if found.get("FSState") == "Operational" else 0


def names_directory(spec: LabSpec) -> Path:
    """Returns the directory in which the NameNode keeps its image and edits."""
    return spec.node_dir(spec.cluster.yarn.resourcemanager.name) / "hdfs-names"


def hdfs_properties(spec: LabSpec) -> dict[str, str]:
    """Returns the properties of HDFS' daemons: one copy of each block, in the lab's directory."""
    master = spec.cluster.yarn.resourcemanager.name
    # ${env.VAS_NODE}: one configuration directory serves every node.
    node = spec.node_dir("${env.VAS_NODE}")
    return {
        # Named: an application master on HDFS gives a Lustre without a name the NameNode's.
        "fs.defaultFS": f"lustre://{spec.cluster.lustre.fsname}",
        "dfs.namenode.rpc-address": f"{master}:{_RPC_PORT}",
        "dfs.namenode.http-address": f"{master}:{_WEB_PORT}",
        "dfs.namenode.name.dir": f"file://{names_directory(spec)}",
        "dfs.datanode.data.dir": f"file://{node}/hdfs-blocks",
        "dfs.datanode.hostname": "${env.VAS_NODE}",
        "dfs.replication": "1",
    }
