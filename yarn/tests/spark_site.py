"""A machine with a site's map, Hadoop's configuration, VAS's jars and a Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from vas_cluster.hadoop import configuration_xml
from vas_yarn import jars

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
JARS = {"plugins": "vas-yarn-plugins-0.1.0", "spark": "vas-spark-0.1.0", "hadoop": "jna-5.18.1"}


def make_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes all of it below a directory, the mount too, and points this process there."""
    described = yaml.safe_load(EXAMPLE.read_text())
    described["lustre"]["mount"] = str(tmp_path / "lustre")
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(described))
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "cluster.yaml"))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("SPARK_HOME", str(make_spark(tmp_path / "spark")))
    for name in ("SPARK_CONF_DIR", "SPARK_EXECUTOR_MEMORY", "SPARK_EXECUTOR_CORES"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "conf").mkdir()
    (tmp_path / "lustre/yarn").mkdir(parents=True)
    keys = {"yarn.app.mapreduce.am.staging-dir": "/yarn", "vas.lustre.block-size": "64m"}
    (tmp_path / "conf/core-site.xml").write_text(configuration_xml(keys))
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/my.py").touch()
    monkeypatch.chdir(tmp_path / "programs")
    for folder, name in JARS.items():
        (tmp_path / "lib" / folder).mkdir(parents=True)
        (tmp_path / "lib" / folder / f"{name}.jar").touch()
    nowhere = tmp_path / "nowhere"
    for constant in ("_PLUGINS", "_MODULES", "_HADOOP"):
        monkeypatch.setattr(jars, constant, nowhere)
    installed = jars.find_spark_jars
    monkeypatch.setattr("vas_yarn.spark.here.find_spark_jars", lambda: installed(tmp_path / "lib"))
    return tmp_path


def make_spark(home: Path) -> Path:
    """A SPARK_HOME whose spark-submit prints its words and where the configuration is."""
    for name in ("bin", "jars", "conf"):
        (home / name).mkdir(parents=True)
    program = home / "bin/spark-submit"
    program.write_text('#!/bin/sh\necho "$HADOOP_CONF_DIR"\nfor w in "$@"; do echo "$w"; done\n')
    program.chmod(0o755)
    return home
