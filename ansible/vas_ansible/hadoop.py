"""Derives a site's Hadoop configuration from the map and the site's choices. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vas_cluster import Cluster
from vas_cluster.hadoop import by_file, configuration_xml, hadoop_properties
from vas_core.errors import BadInput
from vas_core.sizes import parse_size
from vas_yarn.lint.rules import TAG, TAGS_KEY, is_off
from vas_yarn.profiles import profile_properties
from vas_yarn.site_files import as_mapping
from vas_yarn.site_services import JOBID
from vas_yarn.submit.master import HADOOPS_OPTIONS, MASTER, OPTIONS_KEY, wants_warm

Properties = dict[str, str]
CONFIGURATION = "/etc/vas/hadoop"
PROGRAMS = "/usr/lib/vas"
STATE = "/var/lib/yarn"
LOGS = "/var/log/yarn"
_HEAP = re.compile(r"-Xmx\S+\s*")
_HEAP_SHARE = "0.75"
_LEAST_LEFT = 1 << 30  # bytes of a guest that containers get at least
NODE_GROUP = "/system.slice/vas-nodemanager.service"
CHILD_ARGUMENTS = f"{CONFIGURATION}/vas-child.args"
"""The argument file of every container's JVM: the archive of classes, and the class path."""
QUEUES = "capacity-scheduler.xml"
LIMIT_USERS = "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users"
"""Whether containers of a site without Kerberos all run as one user; Hadoop's default is true."""
AUTHENTICATION = "hadoop.security.authentication"
_EXECUTOR = "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"
_STORE = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Choices of a site that the map does not hold.

    `reserved`: memory of a guest that containers do not get, like 2GiB. `executor`: whether
    containers run as their users, by Hadoop's setuid program; without Kerberos only where the map
    explains in `yarn.trusts_every_user` why users are believed. `realm`: Kerberos realm, or empty.
    `plugins`: whether jobs get VAS's shuffle and warm containers by default, with the memory and
    JVM flags of the profile `default`. `class_archive`: whether the JVMs of containers map the
    node's archive of classes.
    `properties`: the site's own Hadoop properties, which override all others.
    """

    cluster_file: Path = Path("/etc/vas/cluster.yaml")
    reserved: str = "2GiB"
    executor: bool = False
    realm: str = ""
    plugins: bool = False
    class_archive: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)


def site_files(cluster: Cluster, node: str, choices: Choices) -> dict[str, str]:
    """Returns file name -> Hadoop XML for a node of the map, or its ResourceManager.

    Only the ResourceManager has the queues, so that a change of queues does not change guests.
    Raises BadInput if a guest has less than 1 GiB left for containers.
    """
    properties = hadoop_properties(cluster, choices.cluster_file)
    properties |= _everywhere(cluster) | _largest_container(cluster, choices.reserved)
    properties |= _manager() | _node(cluster, node, choices)
    properties |= _executor() if choices.executor else {}
    if choices.executor and not choices.realm and cluster.yarn.trusts_every_user:
        properties[LIMIT_USERS] = "false"
    properties |= _kerberos(choices.realm) if choices.realm else {}
    properties |= _class_archive() if choices.class_archive else {}
    properties |= _profile() if choices.plugins else {}
    files = by_file(_plugins_in_force(properties | dict(choices.properties), choices))
    if node != cluster.yarn.resourcemanager.name:
        del files[QUEUES]
    return {name: configuration_xml(dict(sorted(files[name].items()))) for name in sorted(files)}


def _profile() -> Properties:
    """Returns the profile `default` for jobs that say nothing.

    A heap follows from a job's own container, and a container from its heap, as in stock: the
    profile's sizes are those of Hadoop's default container at this ratio.
    """
    found = profile_properties("default") | {"mapreduce.job.heap.memory-mb.ratio": _HEAP_SHARE}
    for kind in ("map", "reduce"):
        del found[f"mapreduce.{kind}.memory.mb"]
        options = f"mapreduce.{kind}.java.opts"
        found[options] = _HEAP.sub("", found[options])
    return found


def _everywhere(cluster: Cluster) -> Properties:
    manager = cluster.yarn.resourcemanager.name
    class_path = f"{CONFIGURATION},{PROGRAMS}/hadoop/*,{PROGRAMS}/plugins/*"
    return _as_measured(cluster) | {
        "hadoop.prometheus.endpoint.enabled": "true",
        "hadoop.tmp.dir": f"{STATE}/temporary",
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{PROGRAMS}/hadoop/*,{PROGRAMS}/plugins/*",
        "mapreduce.jobhistory.address": f"{manager}:10020",
        "mapreduce.jobhistory.webapp.address": f"{manager}:19888",
        "yarn.app.mapreduce.am.staging-dir": "/yarn/staging",
        "yarn.application.classpath": class_path,
        "yarn.log-aggregation-enable": "true",
        "yarn.log.server.url": f"http://{manager}:19888/jobhistory/logs",
        "yarn.nodemanager.remote-app-log-dir": "/yarn/logs",
    }


def _as_measured(cluster: Cluster) -> Properties:
    """Returns what the lab's figures were measured with, beside the profile (site-defaults.md)."""
    # Not more than 200 heartbeats a second for the ResourceManager.
    beat_ms = max(200, 5 * len(cluster.guests()))
    return {
        "mapreduce.client.completion.pollinterval": "300",
        "mapreduce.client.progressmonitor.pollinterval": "300",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "200",
        # Three processes at the start of every container, to list its directory.
        "yarn.nodemanager.log-container-debug-info.enabled": "false",
        "yarn.nodemanager.log-container-debug-info-on-error.enabled": "true",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": str(beat_ms),
        # Hadoop's default, 1024, makes 1 GiB of each container of 512 MiB that `short` asks for.
        "yarn.scheduler.minimum-allocation-mb": "256",
    }


def _largest_container(cluster: Cluster, reserved: str) -> Properties:
    """Returns limits at which a container may have all that the largest guest has for containers.

    Hadoop's defaults, 8192 MiB and 4 vcores, would refuse a larger one on any guest. All nodes have
    them in yarn-site.xml, as `vas submit` and `vas job lint` compare a job with them there. With
    another `vas_hadoop_reserved` on the ResourceManager, its own limit counts.
    """
    guests = cluster.guests()
    if not guests:
        return {}
    memory = max(guest.memory_bytes for guest in guests) - parse_size(reserved)
    return {
        "yarn.scheduler.maximum-allocation-mb": str(max(_LEAST_LEFT, memory) >> 20),
        "yarn.scheduler.maximum-allocation-vcores": str(max(guest.vcpus for guest in guests)),
    }


def _manager() -> Properties:
    stores = f"file://{STATE}/resourcemanager"
    return {
        "yarn.admin.acl": "yarn",
        # An evacuation must not wait for the default interval of 20 s.
        "yarn.resourcemanager.decommissioning-nodes-watcher.poll-interval-secs": "3",
        "yarn.resourcemanager.nodes.exclude-path": f"{CONFIGURATION}/exclude",
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.store.class": _STORE,
        "yarn.resourcemanager.fs.state-store.uri": stores,
        # The defaults of these two are in /tmp.
        "yarn.node-attribute.fs-store.root-dir": f"{stores}/attributes",
        "yarn.node-labels.fs-store.root-dir": f"{stores}/labels",
        "yarn.webapp.ui2.enable": "false",
    }


def _node(cluster: Cluster, node: str, choices: Choices) -> Properties:
    if cluster.host_by_guest(node) is None:
        return {}
    guest = cluster.guest(node)
    left = guest.memory_bytes - parse_size(choices.reserved)
    if left < _LEAST_LEFT:
        what = f"{guest.memory} less {choices.reserved} leaves less than 1GiB for containers"
        raise BadInput(what, where=node, hint="lower vas_hadoop_reserved, or raise its memory")
    return {
        "yarn.nodemanager.hostname": node,
        "yarn.nodemanager.address": "${yarn.nodemanager.hostname}:8041",
        "yarn.nodemanager.local-dirs": f"{STATE}/local",
        "yarn.nodemanager.log-dirs": f"{LOGS}/containers",
        "yarn.nodemanager.resource.memory-mb": str(left >> 20),
        "yarn.nodemanager.resource.cpu-vcores": str(guest.vcpus),
        **_job_of_containers(),
        # A JVM reserves far more addresses than it uses.
        "yarn.nodemanager.vmem-check-enabled": "false",
    }


def _job_of_containers() -> Properties:
    """Returns variables of every container, of which VAS_JOBID names its application to Lustre.

    container_e17_1700000000000_0001_01_000002 gives app_1700000000000_0001: Lustre keeps 31
    characters of a job's name, and application_1700000000000_100000 has one more. The script that
    starts a container expands the values, each after those that it names.
    """
    prefix = "yarn.nodemanager.admin-env"
    return {
        f"{prefix}.VAS_APPLICATION": "${CONTAINER_ID%_*_*}",
        f"{prefix}.VAS_CLUSTER_TIME": "${VAS_APPLICATION%_*}",
        f"{prefix}.{JOBID}": "app_${VAS_CLUSTER_TIME##*_}_${VAS_APPLICATION##*_}",
    }


def _executor() -> Properties:
    """Containers as their users, in control groups (Hadoop's NodeManagerCgroups.md)."""
    prefix = "yarn.nodemanager.linux-container-executor"
    return {
        "yarn.nodemanager.container-executor.class": _EXECUTOR,
        f"{prefix}.path": f"{PROGRAMS}/container-executor",
        f"{prefix}.group": "hadoop",
        "yarn.nodemanager.resource.cpu.enabled": "true",
        "yarn.nodemanager.resource.memory.enabled": "true",
        f"{prefix}.cgroups.v2.enabled": "true",
        f"{prefix}.cgroups.mount": "false",
        # The unit's control group, delegated to the NodeManager's user; its leaf is `daemon`.
        f"{prefix}.cgroups.hierarchy": NODE_GROUP,
    }


def _class_archive() -> Properties:
    keys = (
        "mapreduce.admin.map.child.java.opts",
        "mapreduce.admin.reduce.child.java.opts",
        "yarn.app.mapreduce.am.admin-command-opts",
    )
    return dict.fromkeys(keys, f"@{CHILD_ARGUMENTS}")


def _plugins_in_force(properties: Properties, choices: Choices) -> Properties:
    """Adds what belongs to a plugin that is on, and removes what is wrong with one that is off.

    The site's one property decides: `vas.containers.reuse` and `vas.shuffle.enabled`.
    """
    conf, found = as_mapping(properties), dict(properties)
    if choices.plugins and wants_warm(conf) and OPTIONS_KEY not in choices.properties:
        found[OPTIONS_KEY] = f"{conf.get(OPTIONS_KEY, HADOOPS_OPTIONS)} {MASTER}"
    if is_off(conf) and TAG in found.get(TAGS_KEY, ""):
        # YARN must not keep the finished maps of a lost node, whose output is lost with it.
        tags = [tag.strip() for tag in found.pop(TAGS_KEY).split(",")]
        kept = ",".join(tag for tag in tags if tag not in ("", TAG))
        found |= {TAGS_KEY: kept} if kept else {}
    return found


def _kerberos(realm: str) -> Properties:
    """Hadoop's secure mode; the KDC and the keytabs are the site's."""
    daemons = {
        "yarn.resourcemanager": "rm",
        "yarn.nodemanager": "nm",
        "mapreduce.jobhistory": "jhs",
    }
    secure = {
        AUTHENTICATION: "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.rpc.protection": "privacy",
    }
    for prefix, name in daemons.items():
        secure[f"{prefix}.principal"] = f"{name}/_HOST@{realm}"
        secure[f"{prefix}.keytab"] = f"{CONFIGURATION}/{name}.keytab"
    return secure
