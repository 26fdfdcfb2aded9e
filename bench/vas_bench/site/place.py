"""A real site as a place for jobs: the machine's own `hadoop`, its versions, the map's guests."""

from __future__ import annotations

import glob
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_bench.results.environment import build_of, lab_versions
from vas_bench.run.own_jobs import workloads_jar
from vas_bench.site.configuration import SiteConfiguration
from vas_cluster import Cluster
from vas_core.errors import NotHere, VasError
from vas_core.process import Completed, run
from vas_yarn.history import History
from vas_yarn.jobs.client import JobClient, JobProgram
from vas_yarn.jobs.job import JobResult, program
from vas_yarn.jobs.place import OnEvent
from vas_yarn.resourcemanager import ResourceManagerClient

_RUNNING = "RUNNING"
# The programs are in jars that no Hadoop has on its class path.
_PROGRAMS = re.compile(
    r"hadoop-mapreduce-(examples-[\d.]+|client-jobclient-[\d.]+-tests)(-SNAPSHOT)?\.jar"
)
_PLUGINS = re.compile(r"vas-yarn-plugins-.*\.jar")
_SHARED = "share/hadoop/mapreduce"


@dataclass(frozen=True)
class SiteFacts:
    """Facts of a site that `vas_yarn.jobs.place.JobPlace` asks for."""

    cluster: Cluster
    temporary: Path


class SitePlace:
    """A site as a `vas_yarn.jobs.place.JobPlace`. Lustre is mounted on this machine too.

    A job that has not ended after `limit_seconds` is killed. `lifeline` is a descriptor: when its
    other end is closed, the job is killed too.
    """

    def __init__(
        self,
        cluster: Cluster,
        cluster_file: Path,
        configuration: SiteConfiguration,
        temporary: Path,
        limit_seconds: float,
        lifeline: int | None = None,
    ) -> None:
        self.spec = SiteFacts(cluster, temporary)
        self._configuration, self._limit_seconds = configuration, limit_seconds
        self._lifeline = lifeline
        self._yarn = ResourceManagerClient.at(*configuration.resource_manager(cluster))
        self._history = History(configuration.history(cluster))
        self._env = {
            **os.environ,
            "HADOOP_CONF_DIR": str(configuration.directory),
            "VAS_CLUSTER": str(cluster_file.resolve()),
            # What a client prints tells of its jobs.
            "HADOOP_ROOT_LOGGER": "INFO,console",
        }

    def nodes(self) -> tuple[list[str], list[str]]:
        """Returns the map's guests that YARN cannot use now, and YARN's other nodes."""
        found = {name for name, state in self._yarn.nodes().items() if state == _RUNNING}
        running = {self.spec.cluster.name_of(name) for name in found}
        guests = {guest.name for guest in self.spec.cluster.guests()}
        return sorted(guests - running), sorted(running - guests)

    def refuse_broken(self) -> None:
        """Raises VasError when YARN's nodes are not the map's guests."""
        lost, others = self.nodes()
        if lost:
            hint = "see the NodeManager's log there"
            raise VasError(f"YARN has no running node on {', '.join(lost)}", hint=hint)
        if others:
            hint = "jobs would run there too: add them to the map, or stop them"
            raise VasError(f"the map has no guest {', '.join(others)}, YARN has", hint=hint)

    def call(
        self, argv: Sequence[str], *, node: str | None = None, check: bool = True
    ) -> Completed:
        """Runs a program to its end on this machine: everywhere it would see the same files."""
        return run(argv, check=check, env=self._env)

    def run_job(
        self,
        argv: Sequence[str],
        conf: Mapping[str, str] | None = None,
        *,
        jars: Sequence[Path] = (),
        on_event: OnEvent = lambda _: None,
    ) -> JobResult:
        """Runs a Hadoop program to its end. Interrupted, or out of time, it kills its jobs."""
        temporary = self.spec.temporary
        temporary.mkdir(parents=True, exist_ok=True)
        main = program(tuple(argv), temporary)
        log = temporary / f"client-{time.strftime('%H%M%S')}-{time.time_ns() % 10**9:09d}.log"
        with self._configuration.changed(conf or {}, temporary) as directory:
            made = JobProgram(
                name=main[0].rpartition(".")[2],
                argv=[hadoop(), *main],
                log=log,
                env=self._env_of(directory, jars),
                limit_seconds=self._limit_seconds,
            )
            return JobClient(made, self._yarn, self._history, on_event).run(self._lifeline)

    def _env_of(self, directory: Path, jars: Sequence[Path]) -> dict[str, str]:
        before = [path for path in (os.environ.get("HADOOP_CLASSPATH"),) if path]
        class_path = ":".join([*map(str, jars), *map(str, program_jars()), *before])
        return self._env | {"HADOOP_CONF_DIR": str(directory), "HADOOP_CLASSPATH": class_path}


def hadoop() -> str:
    """Returns the path of this machine's `hadoop`. Raises NotHere without one."""
    if found := shutil.which("hadoop"):
        return found
    raise NotHere("no program 'hadoop' on PATH", hint="put Hadoop's bin directory there")


def class_path() -> list[Path]:
    """Returns the jars that `hadoop classpath` names, those of its wildcards included.

    Raises NotHere without `hadoop`, CommandFailed when it fails.
    """
    words = run([hadoop(), "classpath"]).stdout.strip().split(":")
    found = (glob.glob(f"{word}.jar") if word.endswith("*") else [word] for word in words)  # noqa: PTH207
    return sorted({Path(path) for paths in found for path in paths if path.endswith(".jar")})


def program_jars() -> list[Path]:
    """Returns the jars of Hadoop's examples and of TestDFSIO. Raises NotHere without them."""
    beside = {path.parents[1] / "mapreduce" for path in class_path()}
    homes = [Path(home) / _SHARED for home in (os.environ.get("HADOOP_HOME"),) if home]
    directories = [*{path.parent for path in class_path()}, *beside, *homes]
    found = {
        path.name: path
        for directory in directories
        for path in directory.glob("hadoop-mapreduce-*.jar")
        if _PROGRAMS.fullmatch(path.name)
    }
    if len(found) < 2:
        raise NotHere(
            "Hadoop's examples and the tests of its job client are not there",
            where=str(homes[0] if homes else "hadoop classpath"),
            hint="set HADOOP_HOME to a whole Hadoop",
        )
    return sorted(found.values())


def versions() -> dict[str, str]:
    """Returns the versions of Hadoop, Java and VAS, and the build of its plugins.

    Raises NotHere without `hadoop`.
    """
    jars = class_path()
    core = next((jar.parent for jar in jars if jar.name.startswith("hadoop-common-")), Path())
    plugins = [jar for jar in jars if _PLUGINS.fullmatch(jar.name)]
    java = Path(os.environ.get("JAVA_HOME", "/usr"))
    return lab_versions(core, java) | {"plugins": build_of(*plugins, *_own_jobs())}


def _own_jobs() -> list[Path]:
    """The jar of the project's own jobs: a clone has it built, an installed VAS has none."""
    try:
        return [workloads_jar()]
    except NotHere:
        return []
