"""The files that a machine's Hadoop is configured by."""

from __future__ import annotations

import os
from pathlib import Path

from vas_yarn.lint.configuration import read_xml

SITE_FILES = ("core-site.xml", "mapred-site.xml", "yarn-site.xml", "hdfs-site.xml")
_DEFAULT = "/etc/hadoop/conf"


def configuration_directory() -> Path:
    """`$HADOOP_CONF_DIR`, else /etc/hadoop/conf."""
    return Path(os.environ.get("HADOOP_CONF_DIR") or _DEFAULT)


def site_properties(directory: Path) -> dict[str, str]:
    """What the files say that are there, the last word last. Raises BadInput for bad ones."""
    files = [directory / name for name in SITE_FILES]
    return {p.key: p.value for file in files if file.exists() for p in read_xml(file)}
