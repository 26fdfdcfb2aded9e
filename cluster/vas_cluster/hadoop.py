"""Derives the Hadoop configuration that points YARN at VAS from a site's map.

Only what follows from the map stands here: sizes, timeouts and JVM flags are for each site to
choose. The keys are documented in docs/configuration.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from vas_cluster.model import Cluster

_FILES = {
    "capacity-scheduler.xml": ("yarn.scheduler.capacity.",),
    "hdfs-site.xml": ("dfs.",),
    "mapred-site.xml": ("mapreduce.", "yarn.app.mapreduce."),
    "yarn-site.xml": ("yarn.",),
}

# What VAS's shuffle and its warm containers count, in two groups, beyond Hadoop's bounds for a job.
_VAS_COUNTERS, _HADOOPS_MOST_COUNTERS = 20, 120
_VAS_GROUPS, _HADOOPS_MOST_GROUPS = 2, 50

_QUEUES_HAVE_USERS = {
    # Without this YARN asks no list.
    "yarn.acl.enable": "true",
    # Who administers a queue may submit, and by default everybody does.
    "yarn.scheduler.capacity.root.acl_administer_queue": " ",
    # Logs say which split a map had; `vas job locality` asks for them by HTTP, with no name.
    "mapreduce.job.acl-view-job": "*",
}


def hadoop_properties(cluster: Cluster, cluster_file: Path) -> dict[str, str]:
    """Returns all of Hadoop's properties that follow from the map, key -> value.

    `cluster_file` is the map's path on the machines that run Hadoop.
    """
    queues = {queue.name: queue for queue in cluster.yarn.queues}
    properties = {
        "fs.defaultFS": "lustre:///",
        "fs.lustre.impl": "org.vas.filesystem.LustreFileSystem",
        "fs.AbstractFileSystem.lustre.impl": "org.vas.filesystem.LustreFs",
        "vas.cluster.file": str(cluster_file),
        # `vas job locality` reads a job's own file there, as the job's owner.
        "vas.placement.log-directory": f"{cluster.lustre.mount}/yarn/placement",
        # A job has as many of its own as without VAS. Masters, clients and the history server take
        # both bounds from the site's files alone, tasks from the job's.
        "mapreduce.job.counters.max": str(_HADOOPS_MOST_COUNTERS + _VAS_COUNTERS),
        "mapreduce.job.counters.groups.max": str(_HADOOPS_MOST_GROUPS + _VAS_GROUPS),
        "net.topology.node.switch.mapping.impl": "org.vas.scheduler.VasSwitchMapping",
        "yarn.resourcemanager.hostname": cluster.yarn.resourcemanager.name,
        "yarn.resourcemanager.application-master-service.processors": (
            "org.vas.scheduler.PlacementProcessor,org.vas.shuffle.rm.KeepFinishedMaps"
        ),
        "yarn.nodemanager.aux-services": "mapreduce_shuffle,vas_shuffle",
        "yarn.nodemanager.aux-services.vas_shuffle.class": (
            "org.vas.shuffle.node.ShuffleNodeService"
        ),
        "yarn.scheduler.capacity.root.queues": ",".join(queues),
        # The root's list is inherited: a queue's own list means something only if it is empty.
        "yarn.scheduler.capacity.root.acl_submit_applications": " ",
    }
    if any(queue.users for queue in cluster.yarn.queues):
        properties |= _QUEUES_HAVE_USERS
    for name, queue in queues.items():
        prefix = f"yarn.scheduler.capacity.root.{name}"
        properties[f"{prefix}.capacity"] = str(queue.capacity)
        properties[f"{prefix}.acl_submit_applications"] = ",".join(queue.users) or "*"
    return properties


def by_file(properties: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Returns file name (`yarn-site.xml`) -> its properties. Every file is there, even if empty."""
    files: dict[str, dict[str, str]] = {name: {} for name in (*_FILES, "core-site.xml")}
    for key, value in properties.items():
        name = next((n for n, prefixes in _FILES.items() if key.startswith(prefixes)), None)
        files[name or "core-site.xml"][key] = value
    return files


def configuration_xml(properties: Mapping[str, str]) -> str:
    """Returns properties as a Hadoop `<configuration>` document."""
    root = ElementTree.Element("configuration")
    for name, value in properties.items():
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name
        ElementTree.SubElement(entry, "value").text = value
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
