"""A site's Hadoop configuration, and copies of it with other properties.

The files are those of the machine that jobs are submitted from.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from vas_cluster import Cluster
from vas_core.errors import BadInput
from vas_yarn.lint.rules import TAG, TAGS_KEY
from vas_yarn.profiles import SHUFFLE
from vas_yarn.site_files import SITE_FILES, as_mapping, site_properties
from vas_yarn.site_services import history_url, host_and_port, manager_address
from vas_yarn.submit.master import MASTER, OPTIONS_KEY, REUSE_KEY

# MapTask's and mapred-default.xml's.
_STOCKS_SHUFFLE = {
    "mapreduce.job.map.output.collector.class": "org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
    "mapreduce.job.reduce.shuffle.consumer.plugin.class": (
        "org.apache.hadoop.mapreduce.task.reduce.Shuffle"
    ),
}
_LUSTRE = "lustre:"
_TEZ = "tez-site.xml"


@dataclass(frozen=True)
class SiteConfiguration:
    """A configuration directory, and the properties in its files."""

    directory: Path
    properties: Mapping[str, str]

    @classmethod
    def read(cls, directory: Path) -> SiteConfiguration:
        """Reads a directory. Raises BadInput without one, and if its file system is not VAS's."""
        properties = site_properties(directory)
        if not properties:
            hint = "name the one that the site's `hadoop` uses: --hadoop-conf DIR"
            raise BadInput("no Hadoop configuration is here", where=str(directory), hint=hint)
        found = cls(directory, properties)
        default = found.get("fs.defaultFS")
        if not default.startswith(_LUSTRE):
            raise BadInput(
                f"fs.defaultFS is {default or 'not set'}: jobs would not be on Lustre",
                where=str(directory),
                hint="give --hadoop-conf one of the VAS plugins (docs/configuration.md)",
            )
        return found

    def get(self, key: str, default: str = "") -> str:
        """Returns a value with its references resolved."""
        return as_mapping(self.properties).get(key, default)

    def resource_manager(self, cluster: Cluster) -> tuple[str, int]:
        """Returns host and port of the ResourceManager's web interface."""
        return manager_address(as_mapping(self.properties), cluster)

    def history(self, cluster: Cluster) -> str:
        """Returns the URL of the JobHistoryServer."""
        return history_url(as_mapping(self.properties), cluster)

    def name_node_web(self, cluster: Cluster) -> str:
        """Returns the URL of the web interface of HDFS's NameNode."""
        master = cluster.yarn.resourcemanager.name
        host, port = host_and_port(self.get("dfs.namenode.http-address"), master, 9870)
        return f"http://{host}:{port}"

    @property
    def hdfs(self) -> str:
        """The beginning of paths in the site's HDFS; empty where it has none."""
        services = self.get("dfs.nameservices")
        address = services.partition(",")[0] or self.get("dfs.namenode.rpc-address")
        return f"hdfs://{address}" if address else ""

    @contextmanager
    def changed(self, properties: Mapping[str, str], temporary: Path) -> Iterator[Path]:
        """Yields a copy of the directory in which these properties have the last word.

        The properties are written into every file, because Hadoop reads each at another
        moment; options -D are understood only by programs that use Hadoop's Tool. What the
        site switches on for every job is switched off, unless the properties say otherwise:
        systems differ in their own properties alone, as in a lab.
        """
        decided = {**switched_off(self.properties), **properties}
        with tempfile.TemporaryDirectory(dir=temporary, prefix="conf-") as name:
            copy = Path(name)
            shutil.copytree(self.directory, copy, dirs_exist_ok=True)
            # Of another Tez, which the site may have, nothing is used.
            (copy / _TEZ).unlink(missing_ok=True)
            for file in (*SITE_FILES, _TEZ):
                _append(copy / file, decided)
            yield copy


def switched_off(site: Mapping[str, str]) -> dict[str, str]:
    """Returns properties by which a job of a site is stock's, where the site's files make it VAS's.

    The shuffle and warm containers: placement and memory are the site's for all systems.
    """
    ours = (key for key in _STOCKS_SHUFFLE if site.get(key) == SHUFFLE[key])
    found = {key: _STOCKS_SHUFFLE[key] for key in ours}
    tags = [tag.strip() for tag in site.get(TAGS_KEY, "").split(",")]
    if TAG in tags:
        found[TAGS_KEY] = ",".join(tag for tag in tags if tag not in ("", TAG))
    if site.get(REUSE_KEY, "off") != "off":
        found[REUSE_KEY] = "off"
    flags = site.get(OPTIONS_KEY, "").split()
    if MASTER in flags:
        found[OPTIONS_KEY] = " ".join(flag for flag in flags if flag != MASTER)
    return found


def _append(file: Path, properties: Mapping[str, str]) -> None:
    root = ElementTree.Element("configuration")
    if file.exists():
        root = ElementTree.fromstring(file.read_bytes())  # noqa: S314 (the site's own files)
    for name, value in properties.items():
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name
        ElementTree.SubElement(entry, "value").text = value
    file.write_bytes(ElementTree.tostring(root))
