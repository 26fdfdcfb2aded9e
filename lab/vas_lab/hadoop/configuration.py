"""Makes the Hadoop configuration of a lab. Pure: a site and some paths in, properties out.

What follows from the site's map is `vas_cluster.hadoop`'s; sizes and JVM flags
of a cluster on one small machine are `vas_yarn.small_cluster`'s.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from vas_cluster.hadoop import by_file, hadoop_properties
from vas_lab.hadoop.hdfs import hdfs_properties
from vas_lab.spec import LabSpec
from vas_yarn.cds.archive import class_path_argument
from vas_yarn.cds.archive import jvm_flags as cds_flags
from vas_yarn.small_cluster import AM_HEAP, AM_MIB, JVM, TASK_HEAP, TASK_MIB

# What every child of a NodeManager needs of its environment to see the mount as a Lustre.
LAB_VARIABLES = ("LD_PRELOAD", "VAS_LAB_MOUNT", "VAS_LAB_MDS", "VAS_CLUSTER", "PATH")
_YARN_VARIABLES = ("JAVA_HOME", "HADOOP_CONF_DIR", "CLASSPATH_PREPEND_DISTCACHE", "LANG", "TZ")
Properties = dict[str, str]


def configuration(spec: LabSpec) -> dict[str, Properties]:
    """Returns file name -> properties; the user's properties in `spec` win."""
    from_map = hadoop_properties(spec.cluster, spec.cluster_file)
    if spec.plugin_jar is None:
        from_map = _without_plugins(from_map)
    hdfs = hdfs_properties(spec) if spec.hdfs else {}
    ours = _core(spec) | _yarn(spec) | _mapreduce(spec) | hdfs
    return by_file(from_map | ours | spec.properties)


def _without_plugins(properties: Mapping[str, str]) -> Properties:
    stock = {key: value for key, value in properties.items() if not value.startswith("org.vas.")}
    return stock | {
        "fs.defaultFS": "file:///",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
    }


def _core(spec: LabSpec) -> Properties:
    return {
        "hadoop.tmp.dir": str(spec.temporary),
        "hadoop.http.staticuser.user": "${user.name}",
        # Daemons start together: those that come first ask the others again soon.
        "ipc.client.connect.retry.interval": "200",
        "ipc.client.connect.max.retries": "100",
    }


def _yarn(spec: LabSpec) -> Properties:
    return _resource_manager(spec) | _node_manager(spec) | _logs_and_history(spec)


def _resource_manager(spec: LabSpec) -> Properties:
    stores = f"file://{spec.state_dir}/nodes/stores"
    return {
        "yarn.resourcemanager.connect.retry-interval.ms": "500",
        "yarn.resourcemanager.connect.max-wait.ms": "120000",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "200",
        "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": "1000",
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.store.class": (
            "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
        ),
        "yarn.resourcemanager.fs.state-store.uri": f"{stores}/rm",
        # Left alone, these two lie in the real /tmp.
        "yarn.node-attribute.fs-store.root-dir": f"{stores}/attributes",
        "yarn.node-labels.fs-store.root-dir": f"{stores}/labels",
        "yarn.scheduler.minimum-allocation-mb": "32",
        "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
        "yarn.webapp.ui2.enable": "false",
        # The time of one map, as a site would choose it: on few cores shared by all guests
        # a map of 5 s takes up to 40 s when each runs two.
        "vas.placement.node-wait": "60s",
    }


def _node_manager(spec: LabSpec) -> Properties:
    guests = spec.cluster.guests()
    # ${env.VAS_NODE}: one configuration directory serves every node.
    local = spec.node_dir("${env.VAS_NODE}")
    return {
        "yarn.nodemanager.hostname": "${env.VAS_NODE}",
        "yarn.nodemanager.address": "${yarn.nodemanager.hostname}:8041",
        "yarn.nodemanager.local-dirs": f"{local}/local",
        "yarn.nodemanager.log-dirs": f"{local}/logs",
        "yarn.nodemanager.resource.memory-mb": str(min(g.memory_bytes for g in guests) >> 20),
        "yarn.nodemanager.resource.cpu-vcores": str(min(g.vcpus for g in guests)),
        "yarn.application.classpath": _container_classpath(spec),
        "yarn.nodemanager.env-whitelist": ",".join((*_YARN_VARIABLES, *LAB_VARIABLES)),
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        # A developer's disk is often fuller than the 90 % that YARN takes for a failed one.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
        "yarn.nodemanager.sleep-delay-before-sigkill.ms": "100",
        # Three processes at the start of every container, to list its directory.
        "yarn.nodemanager.log-container-debug-info.enabled": "false",
        "yarn.nodemanager.log-container-debug-info-on-error.enabled": "true",
    }


def _container_classpath(spec: LabSpec) -> str:
    plugins = [str(spec.plugin_jar)] if spec.plugin_jar else []
    return ",".join((str(spec.conf), f"{spec.hadoop_lib}/*", *plugins))


def _logs_and_history(spec: LabSpec) -> Properties:
    manager = spec.cluster.yarn.resourcemanager.name
    return {
        "yarn.log-aggregation-enable": "true",
        "yarn.log.server.url": f"http://{manager}:19888/jobhistory/logs",
        "yarn.nodemanager.remote-app-log-dir": f"{_shared(spec)}/yarn/logs",
        "yarn.app.mapreduce.am.staging-dir": f"{_shared(spec)}/yarn/staging",
        "mapreduce.jobhistory.address": f"{manager}:10020",
        "mapreduce.jobhistory.webapp.address": f"{manager}:19888",
        "mapreduce.jobhistory.move.interval-ms": "1000",
    }


def _shared(spec: LabSpec) -> str:
    # lustre:/// is rooted at the mount; file:/// is not.
    return spec.cluster.lustre.mount if spec.plugin_jar is None else ""


def _mapreduce(spec: LabSpec) -> Properties:
    every_jvm = f"@{spec.child_arguments}"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{spec.hadoop_lib}/*",
        "yarn.app.mapreduce.am.admin-command-opts": every_jvm,
        "yarn.app.mapreduce.am.command-opts": AM_HEAP,
        "yarn.app.mapreduce.am.resource.mb": str(AM_MIB),
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "200",
        "mapreduce.admin.map.child.java.opts": every_jvm,
        "mapreduce.admin.reduce.child.java.opts": every_jvm,
        "mapreduce.map.memory.mb": str(TASK_MIB),
        "mapreduce.map.java.opts": TASK_HEAP,
        "mapreduce.reduce.memory.mb": str(TASK_MIB),
        "mapreduce.reduce.java.opts": TASK_HEAP,
        "mapreduce.client.progressmonitor.pollinterval": "300",
        "mapreduce.client.completion.pollinterval": "300",
    }


def child_arguments(spec: LabSpec, jars: Sequence[Path] = ()) -> str:
    """Returns the argument file of every container's JVM: flags, and a class path of named jars.

    `jars` come after Hadoop's, so that the archive of Hadoop's classes still fits.
    """
    class_path = class_path_argument(":".join((spec.jars, *map(str, jars))), [spec.conf])
    return "\n".join((*jvm_flags(spec), class_path)) + "\n"


# The words of `hadoop`, `yarn` and `mapred` in a lab that are one class of Hadoop's each.
_WORDS = {
    "dfs": "org.apache.hadoop.fs.FsShell",
    "distcp": "org.apache.hadoop.tools.DistCp",
    "fs": "org.apache.hadoop.fs.FsShell",
    "jar": "org.apache.hadoop.util.RunJar",
    "job": "org.apache.hadoop.mapred.JobClient",
    "logs": "org.apache.hadoop.yarn.client.cli.LogsCLI",
    "node": "org.apache.hadoop.yarn.client.cli.NodeCLI",
    "queue": "org.apache.hadoop.mapred.JobQueueClient",
    "streaming": "org.apache.hadoop.streaming.HadoopStreaming",
    "version": "org.apache.hadoop.util.VersionInfo",
}
_KNOWN = ", ".join(sorted((*_WORDS, "application", "classpath")))
_HELP = f"a lab knows {_KNOWN}, and the name of a class"


def hadoop_program(spec: LabSpec) -> str:
    """Returns the shell script that is the lab's `hadoop`, `hdfs`, `yarn` and `mapred`.

    It knows the subcommands that the lab needs, and runs any class.
    """
    flags = shlex.join(
        (*jvm_flags(spec), f"-Dlog4j.configuration=file:{spec.conf}/log4j.properties")
    )
    conf = f'"${{HADOOP_CONF_DIR:-{spec.conf}}}"'
    words = "".join(f'    {word}) shift; set -- {name} "$@" ;;\n' for word, name in _WORDS.items())
    return (
        "#!/bin/sh\n"
        f"jars={shlex.quote(spec.jars)}\n"
        f"conf={conf}\n"
        'more="${HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}"\n'
        'case "$1" in\n'
        '    classpath) printf "%s\\n" "$conf:$jars$more"; exit ;;\n'
        f'    help | -h | --help) printf "%s: %s\\n" "${{0##*/}}" "{_HELP}"; exit ;;\n'
        f"{words}"
        # It reads the word itself.
        '    application) set -- org.apache.hadoop.yarn.client.cli.ApplicationCLI "$@" ;;\n'
        "    -* | *.*) ;;\n"
        f'    *) printf "%s: %s: {_HELP}\\n" "${{0##*/}}" "${{1:-no command given}}" >&2\n'
        "       exit 2 ;;\n"
        "esac\n"
        f'exec {shlex.quote(str(spec.java))} {flags} -Xmx256m -cp "$jars:$conf$more" "$@"\n'
    )


def jvm_flags(spec: LabSpec) -> tuple[str, ...]:
    """Returns the flags of every JVM in the lab: daemon, client or task."""
    return (
        *JVM,
        *cds_flags(spec.archive.file),
        f"-Djava.io.tmpdir={spec.temporary}",
        f"-Djna.tmpdir={spec.temporary}",
    )


def log4j() -> str:
    """Returns log4j.properties: everything goes to stderr, which the supervisor keeps."""
    return (
        "log4j.rootLogger=${hadoop.root.logger}\n"
        "hadoop.root.logger=INFO,console\n"
        "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.console.target=System.err\n"
        "log4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n\n"
        # Its warning would stand before each answer on stderr, where mrjob looks for the answer.
        "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR\n"
    )
