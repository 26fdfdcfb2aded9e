"""The jobs on which the shuffles are compared: tables in which every pair of values has a row.

The whole product runs in one process: ProductTest of yarn-plugins/workloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vas_tests.covering import Row, rows
from vas_yarn.profiles import SHUFFLE

Properties = Mapping[str, str]

# What switches our shuffle on.
OURS: Properties = SHUFFLE

_COMPRESSED = {"mapreduce.map.output.compress": "true"}
_CODEC = "mapreduce.map.output.compress.codec"
_FORMATS: Mapping[str, Mapping[str, Properties]] = {
    "codec": {
        "none": {},
        "gzip": _COMPRESSED | {_CODEC: "org.apache.hadoop.io.compress.GzipCodec"},
        "lz4": _COMPRESSED | {_CODEC: "org.apache.hadoop.io.compress.Lz4Codec"},
    },
    "encryption": {
        "plain": {},
        "encrypted": {"mapreduce.job.encrypted-intermediate-data": "true"},
    },
    "layout": {
        "packed": {"vas.shuffle.layout": "packed"},
        "per-reducer": {"vas.shuffle.layout": "per-reducer"},
    },
}
_DATA: Mapping[str, Properties] = {
    "spread": {"probe.records": "40000"},
    "skewed": {"probe.records": "40000", "probe.skew-percent": "90"},
    "equal": {"probe.records": "40000", "probe.keys": "1"},
    "large": {
        "probe.records": "1",
        "probe.value-bytes": "40m",
        "probe.least-value-bytes": "40m",
    },
    "none": {"probe.records": "0"},
}
_SHAPES: Mapping[str, Mapping[str, Properties]] = {
    "data": _DATA,
    "reducers": {count: {"mapreduce.job.reduces": count} for count in ("1", "2", "6")},
    "api": {"new": {}, "old": {"probe.old-api": "true"}},
    # Sorted backwards and grouped by the first bytes.
    "order": {"usual": {}, "own": {"probe.grouped": "true"}},
    "combiner": {"no": {}, "yes": {"probe.combine": "true"}},
    "runs": {"one": {}, "several": {"mapreduce.task.io.sort.mb": "1"}},
    "maps": {
        "full": {"probe.maps": "2"},
        "some-empty": {"probe.maps": "3", "probe.every-nth-map-is-empty": "2"},
    },
}

PROBE_VALUES: Mapping[str, Mapping[str, Properties]] = {**_SHAPES, **_FORMATS}
PROBES = rows("""
data    codec  reducers  api  order  combiner  runs     maps        encryption  layout
spread  none   6         old  usual  yes       several  some-empty  encrypted   packed
spread  gzip   1         new  usual  no        several  full        plain       per-reducer
spread  lz4    2         old  own    no        one      some-empty  encrypted   per-reducer
skewed  none   2         new  usual  no        several  full        plain       per-reducer
skewed  gzip   1         old  own    yes       several  some-empty  encrypted   packed
skewed  lz4    6         new  usual  yes       one      full        plain       packed
equal   none   2         old  usual  yes       one      some-empty  plain       per-reducer
equal   gzip   6         new  usual  no        one      full        encrypted   packed
equal   lz4    1         old  own    no        several  full        encrypted   packed
large   none   2         new  own    no        several  full        plain       packed
large   gzip   1         old  usual  no        one      some-empty  encrypted   packed
large   lz4    6         old  usual  yes       several  some-empty  encrypted   per-reducer
none    none   1         old  usual  no        one      full        encrypted   per-reducer
none    gzip   2         new  usual  yes       several  some-empty  plain       per-reducer
none    lz4    6         new  own    no        one      full        encrypted   packed
large   none   2         new  usual  no        several  full        plain       packed
""")

_WORKLOADS = "yarn-plugins/workloads/target/vas-workloads-0.1.0.jar"
JAR = str(Path(__file__).parents[2] / _WORKLOADS)
PROBE = (JAR, "org.vas.workloads.probe.ShuffleProbe")
_SORT = ("sort", "-r", "2", "-outFormat", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat")
_TEXTS = ("-outKey", "org.apache.hadoop.io.Text", "-outValue", "org.apache.hadoop.io.Text")
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "wordcount": (JAR, "org.vas.workloads.words.PlainWordCount", "/shuffle/in/text"),
    "wordcount-combined": ("wordcount", "/shuffle/in/text"),
    "secondarysort": ("secondarysort", "/shuffle/in/pairs"),
    "terasort": ("terasort", "/shuffle/in/rows"),
    "sort": (*_SORT, *_TEXTS, "/shuffle/in/random"),
}

PROGRAM_VALUES: Mapping[str, Mapping[str, object]] = {"program": PROGRAMS, **_FORMATS}
EXAMPLES = rows("""
program             codec  encryption  layout
wordcount           none   plain       packed
wordcount           gzip   encrypted   per-reducer
wordcount           lz4    plain       per-reducer
wordcount-combined  none   encrypted   per-reducer
wordcount-combined  gzip   plain       packed
wordcount-combined  lz4    encrypted   packed
secondarysort       none   plain       per-reducer
secondarysort       gzip   encrypted   packed
secondarysort       lz4    plain       packed
terasort            none   encrypted   packed
terasort            gzip   plain       per-reducer
terasort            lz4    encrypted   per-reducer
sort                none   plain       packed
sort                gzip   encrypted   per-reducer
sort                lz4    plain       per-reducer
""")


def properties(row: Row, values: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """Returns the job properties that a row asks for; a row's program is not one of them."""
    merged: dict[str, str] = {}
    for column, name in row.items():
        found = values[column][name]
        if isinstance(found, Mapping):
            merged |= found
    return merged


def case_name(row: Row) -> str:
    """Returns the values of a row as words, the name of its test case."""
    return " ".join(row.values())
