"""Describes a lab: its options and paths. Its starter writes them, its supervisor reads them."""

from __future__ import annotations

import hashlib
import os
import shutil
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vas_cluster import Cluster, load_cluster
from vas_core.errors import NotHere, VasError
from vas_core.repository import REPOSITORY
from vas_yarn.cds.archive import ClassArchive, Ingredients

# One for all labs of this clone: their nodes share the jars.
_CDS = REPOSITORY / "build/cds"


class LabLinks(StrEnum):
    """Bytes on another host's OST cost nothing in a lab, or they cross its network."""

    FREE = "free"
    HONEST = "honest"


class LabSpec(BaseModel):
    """One lab. Everything it writes is below `state_dir`, except what is mounted inside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    state_dir: Path
    hadoop_lib: Path
    plugin_jar: Path | None
    java_home: Path
    user_namespace: bool
    properties: dict[str, str] = {}
    hdfs: bool = False
    links: LabLinks = LabLinks.FREE
    job_limit_seconds: float | None = None

    @property
    def cluster_file(self) -> Path:
        """The lab's own copy of the cluster map."""
        return self.state_dir / "cluster.yaml"

    @cached_property
    def cluster(self) -> Cluster:
        """The map of the lab's site."""
        return load_cluster(self.cluster_file)

    @property
    def conf(self) -> Path:
        """The directory of Hadoop's configuration."""
        return self.state_dir / "conf"

    @property
    def child_arguments(self) -> Path:
        """The argument file of every container's JVM."""
        return self.conf / "child.args"

    @property
    def bin(self) -> Path:
        """The directory with the lab's `hadoop`."""
        return self.state_dir / "bin"

    @property
    def archive(self) -> ClassArchive:
        """The class archive that every JVM of the lab maps.

        Labs with the plugins share one, labs without them another: otherwise a lab without them
        would replace the archive that JVMs of a lab with them map, by one without their classes.
        Labs of another JDK have others, for the same reason.
        """
        kind = "hadoop" if self.plugin_jar is None else "plugins"
        home = self.java_home.resolve()
        digest = hashlib.sha256(bytes(home)).hexdigest()[:8]
        return ClassArchive(_CDS / f"{kind}-{home.name}-{digest}")

    @property
    def ingredients(self) -> Ingredients:
        """The JDK and jars that the class archive is made of."""
        return Ingredients(self.java_home, self._jars)

    @property
    def lustre_state(self) -> Path:
        """The directory of the stand-in for Lustre: its files, OSTs, socket and programs."""
        return self.state_dir / "lustre"

    @property
    def environment_file(self) -> Path:
        """The file (JSON) of the environment of every program in the lab, written by the
        supervisor."""
        return self.state_dir / "environment.json"

    @property
    def holders_file(self) -> Path:
        """The file (JSON) of node -> id, in the lab, of the process that holds its namespaces."""
        return self.state_dir / "holders.json"

    @property
    def logs(self) -> Path:
        """The directory of the logs, one for each daemon."""
        return self.state_dir / "logs"

    @property
    def temporary(self) -> Path:
        """The directory for temporary files, in place of /tmp."""
        return self.state_dir / "tmp"

    @property
    def java(self) -> Path:
        """The path of the program `java`."""
        return self.java_home / "bin/java"

    @property
    def jars(self) -> str:
        """The class path of all jars of Hadoop and the plugins, without the configuration."""
        return ":".join(map(str, self._jars))

    @property
    def _jars(self) -> tuple[Path, ...]:
        # By name, not as lib/*, whose order is the directory's.
        plugins = [self.plugin_jar] if self.plugin_jar else []
        return (*sorted(self.hadoop_lib.glob("*.jar")), *plugins)

    @property
    def spark_jars(self) -> str:
        """The jars that Spark needs for `lustre:///`: plugins and JNA; empty without plugins."""
        if self.plugin_jar is None:
            return ""
        return ":".join(map(str, (self.plugin_jar, *sorted(self.hadoop_lib.glob("jna-*.jar")))))

    def node_dir(self, node: str) -> Path:
        """Returns the directory of a node's local disk: YARN's local and log directories."""
        return self.state_dir / "nodes" / node


def find_java() -> Path:
    """Returns $JAVA_HOME, or the home of the `java` on PATH.

    Raises VasError for a $JAVA_HOME without a program `java`, NotHere without any.
    """
    if home := os.environ.get("JAVA_HOME"):
        if not (Path(home) / "bin/java").is_file():
            raise VasError("no bin/java in it", where=f"JAVA_HOME={home}", hint="unset or fix it")
        return Path(home)
    java = shutil.which("java")
    if java is None:
        raise NotHere("no java on PATH", hint="run `vas doctor` for the package")
    return Path(java).resolve().parent.parent
