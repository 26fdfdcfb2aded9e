"""Decides Spark's properties on a site of VAS, each with its reason. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from vas_core.sizes import format_size
from vas_yarn.spark.containers import ContainerLimits

MANAGER = "org.apache.spark.shuffle.vas.VasShuffleManager"
EVENTS = "spark.eventLog.dir"
# Java's own rule (Properties.load), but for escapes within a key.
_SEPARATOR = re.compile(r"\s*[=:]\s*|\s+")
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")


@dataclass(frozen=True)
class SparkProperty:
    """A property of Spark, and why it has this value."""

    key: str
    value: str
    why: str

    def as_json(self) -> dict[str, str]:
        """Returns the property as `--json` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class SparkSite:
    """The facts about a site by which Spark's properties and sizes are decided.

    `jars`: of VAS and JNA, at the same paths on all nodes. `stripe`: bytes. `events`: the directory
    of the user's event logs. `shared_jars`: the directory of Spark's own jars where every node sees
    it, else None. `limits`: the largest containers.
    """

    jars: Sequence[Path]
    stripe: int
    events: Path
    shared_jars: Path | None = None
    limits: ContainerLimits = field(default_factory=ContainerLimits)


def spark_properties(site: SparkSite, *, shuffle: bool = True) -> list[SparkProperty]:
    """Returns the properties that a site's users get; without VAS's shuffle if not `shuffle`."""
    rows = [
        SparkProperty("spark.master", "yarn", "the storage servers' guests are YARN's nodes"),
        *_class_paths(site),
        *_reading(site.stripe),
        *_events(site.events),
    ]
    if shuffle:
        rows += _shuffle()
    if site.shared_jars:
        why = "every node sees them there, so no job copies them"
        rows.append(SparkProperty("spark.yarn.jars", f"local:{site.shared_jars}/*", why))
    return rows


def _class_paths(site: SparkSite) -> Iterator[SparkProperty]:
    path = ":".join(map(str, site.jars))
    for key in _CLASS_PATHS:
        yield SparkProperty(key, path, "lustre:///, the places of stripes, and the shuffle")


def _reading(stripe: int) -> Iterator[SparkProperty]:
    size = format_size(stripe)
    why = f"a task of SQL reads one stripe ({size}), as one of RDDs does"
    yield SparkProperty("spark.sql.files.maxPartitionBytes", str(stripe), why)
    why = "else Spark would cut stripes, to have a part for each core"
    yield SparkProperty("spark.sql.files.minPartitionNum", "1", why)
    why = "else Spark counts bytes from the own host twice: it adds up all kinds of file system"
    yield SparkProperty("spark.hadoop.vas.local.counter", "false", why)


def _events(directory: Path) -> Iterator[SparkProperty]:
    yield SparkProperty("spark.eventLog.enabled", "true", "`vas job locality` reads them")
    yield SparkProperty(EVENTS, f"file://{directory}", "your own directory on Lustre")
    why = "one file for each application, in clear"
    yield SparkProperty("spark.eventLog.rolling.enabled", "false", why)
    yield SparkProperty("spark.eventLog.compress", "false", why)


def _shuffle() -> Iterator[SparkProperty]:
    why = "map output on Lustre: an executor that is lost costs no map"
    yield SparkProperty("spark.shuffle.manager", MANAGER, why)
    why = "output on Lustre is near to all nodes alike"
    yield SparkProperty("spark.shuffle.reduceLocality.enabled", "false", why)
    why = "executors are asked for where stripes lie, and end when idle: their output stays"
    yield SparkProperty("spark.dynamicAllocation.enabled", "true", why)
    why = "else Spark would keep executors for output that is not theirs"
    yield SparkProperty("spark.dynamicAllocation.shuffleTracking.enabled", "false", why)


def as_file(rows: Sequence[SparkProperty]) -> str:
    """Returns the text of a properties file, as `spark-submit --properties-file` reads it."""
    return "".join(f"# {row.why}\n{row.key} {row.value}\n" for row in rows)


def as_words(rows: Sequence[SparkProperty]) -> list[str]:
    """Returns the properties as words of `spark-submit`."""
    return [word for row in rows for word in ("--conf", f"{row.key}={row.value}")]


def read_properties(text: str) -> dict[str, str]:
    """Returns the properties of a `spark-defaults.conf`, which is a file of Java's properties.

    A key ends at a blank, `=` or `:`; a line that ends in a backslash goes on in the next.
    """
    joined = re.sub(r"\\\n[ \t\f]*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    pairs = (_SEPARATOR.split(line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def beside(
    rows: Sequence[SparkProperty], own: Mapping[str, str]
) -> tuple[list[SparkProperty], list[SparkProperty]]:
    """Splits properties into those to give beside the user's `own`, and those that theirs replace.

    VAS's jars go behind the user's on a class path: without them nothing of VAS is found.
    """
    given, replaced = [], []
    for row in rows:
        if row.key in _CLASS_PATHS and own.get(row.key):
            given.append(replace(row, value=f"{own[row.key]}:{row.value}"))
        elif row.key in own:
            replaced.append(row)
        else:
            given.append(row)
    return given, replaced
