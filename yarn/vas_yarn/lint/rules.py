"""Runs every rule of `vas lint`; the rules about the shuffle and Lustre stand here. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from vas_cluster import Cluster
from vas_core.suggest import closest
from vas_yarn.lint import memory
from vas_yarn.lint.contradiction import Contradiction, number
from vas_yarn.lint.keys import KEYS
from vas_yarn.lint.scheduler import containers_in_scheduler
from vas_yarn.profiles import NODE_SHUFFLE, SHUFFLE, STOCK_SHUFFLE
from vas_yarn.site_files import JobConfiguration

COLLECTOR_KEY = "mapreduce.job.map.output.collector.class"
MERGE_KEY = "mapreduce.job.reduce.shuffle.consumer.plugin.class"
TAGS_KEY = "mapreduce.job.tags"
COLLECTOR, MERGE, TAG = (SHUFFLE[key] for key in (COLLECTOR_KEY, MERGE_KEY, TAGS_KEY))
NODE_MERGE, LOCAL_COLLECTOR = NODE_SHUFFLE[MERGE_KEY], NODE_SHUFFLE[COLLECTOR_KEY]
STOCK_COLLECTOR = STOCK_SHUFFLE[COLLECTOR_KEY]
SWITCH_KEY = "vas.shuffle.enabled"
TLS_KEY = "mapreduce.shuffle.ssl.enabled"
TLS_FILE_KEY = "vas.shuffled.tls.certificate"
_STAGING = "yarn.app.mapreduce.am.staging-dir"
_SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"
_FRACTIONS = (
    _SLOW_START,
    "mapreduce.map.sort.spill.percent",
    "mapreduce.reduce.input.buffer.percent",
    "mapreduce.reduce.shuffle.input.buffer.percent",
    "mapreduce.reduce.shuffle.merge.percent",
)
_OURS = "vas."
_NUMBERS = (
    "mapreduce.task.io.sort.mb",
    "mapreduce.map.memory.mb",
    "mapreduce.reduce.memory.mb",
    "mapreduce.map.cpu.vcores",
    "mapreduce.reduce.cpu.vcores",
    "yarn.app.mapreduce.am.resource.mb",
    "yarn.app.mapreduce.am.resource.cpu-vcores",
    "mapreduce.job.reduces",
)
_ON_LUSTRE = {"dfs.blocksize": "vas.lustre.block-size", "dfs.block.size": "vas.lustre.block-size"}


def contradictions(conf: JobConfiguration, cluster: Cluster | None) -> list[Contradiction]:
    """Returns all contradictions. Without a map (None) the rules about guests are left out."""
    alone: tuple[Callable[[JobConfiguration], Iterator[Contradiction]], ...] = (
        _unknown_keys,
        _numbers,
        _fractions,
        memory.unreadable_sizes,
        memory.sort_buffer,
        memory.heap_in_container,
        containers_in_scheduler,
        _idle_reducers,
        _collectors,
        _one_of_two,
        _node_medium,
        _tag,
        _staging,
        _dfs_keys,
    )
    found = [one for rule in alone for one in rule(conf)]
    if cluster:
        found += memory.containers_in_guests(conf, cluster)
        found += memory.reducers_before_maps(conf, cluster)
    return found


def _unknown_keys(conf: JobConfiguration) -> Iterator[Contradiction]:
    for found in conf.chosen_with_prefix(_OURS):
        if found.key not in KEYS:
            close = closest(found.key, KEYS)
            yield Contradiction(
                found.key,
                found.value,
                "VAS has no such key",
                f"did you mean {close}?" if close else "docs/configuration.md has all of them",
            )


def _numbers(conf: JobConfiguration) -> Iterator[Contradiction]:
    for key in _NUMBERS:
        found = conf.find(key)
        if found and found.value and not found.value.lstrip("-").isdigit():
            yield Contradiction(
                found.key,
                found.value,
                "Hadoop takes a whole number without a unit here",
                str(int(number(conf, key, 0))) if number(conf, key, 0) else "a whole number",
            )


def _fractions(conf: JobConfiguration) -> Iterator[Contradiction]:
    for key in _FRACTIONS:
        found = conf.find(key)
        if found and found.value and not 0 <= number(conf, key, -1) <= 1:
            yield Contradiction(found.key, found.value, "is not a share", "a number from 0 to 1")


def _idle_reducers(conf: JobConfiguration) -> Iterator[Contradiction]:
    found = conf.find(_SLOW_START)
    if found and found.value and number(conf, _SLOW_START, 1) == 0:
        yield Contradiction(
            found.key,
            found.value,
            "reducers hold containers from the start, when no map has anything for them",
            "0.05 or more",
        )


def _collectors(conf: JobConfiguration) -> Iterator[Contradiction]:
    names = _names(conf, COLLECTOR_KEY)
    if COLLECTOR in names and len(names) > 1:
        yield Contradiction(
            COLLECTOR_KEY,
            conf.get(COLLECTOR_KEY),
            "of a list, Hadoop takes the next collector when one fails to start: some maps would"
            " write what no reducer of this job reads",
            COLLECTOR,
        )


def _one_of_two(conf: JobConfiguration) -> Iterator[Contradiction]:
    if is_off(conf):
        return
    collects = COLLECTOR in _names(conf, COLLECTOR_KEY)
    merges = conf.get(MERGE_KEY) == MERGE
    if collects != merges:
        set_key = COLLECTOR_KEY if collects else MERGE_KEY
        key, value = (MERGE_KEY, MERGE) if collects else (COLLECTOR_KEY, COLLECTOR)
        yield Contradiction(
            key,
            conf.get(key),
            f"{set_key} is VAS's, this is not: reducers would look for map output in the wrong"
            " place",
            value,
        )


def _node_medium(conf: JobConfiguration) -> Iterator[Contradiction]:
    if is_off(conf) or conf.get(MERGE_KEY) != NODE_MERGE:
        return
    if lacks_tls(conf):
        yield Contradiction(
            MERGE_KEY,
            NODE_MERGE,
            f"{TLS_KEY} is true, and vas-shuffled has no TLS ({TLS_FILE_KEY} is not set here):"
            " reducers get nothing",
            STOCK_SHUFFLE[MERGE_KEY],
        )
    collectors = _names(conf, COLLECTOR_KEY)
    if collectors not in ([], [STOCK_COLLECTOR], [LOCAL_COLLECTOR]) and COLLECTOR not in collectors:
        yield Contradiction(
            COLLECTOR_KEY,
            conf.get(COLLECTOR_KEY),
            "vas-shuffled serves files as Hadoop's own collector writes them",
            STOCK_COLLECTOR,
        )


def _tag(conf: JobConfiguration) -> Iterator[Contradiction]:
    key = TAGS_KEY
    tagged = TAG in _names(conf, key)
    if _uses_shuffle(conf) and not tagged:
        yield Contradiction(
            key,
            conf.get(key),
            "without the tag, finished maps of a lost node run again although their output is safe",
            ",".join([*_names(conf, key), TAG]),
        )
    if tagged and not _uses_shuffle(conf):
        yield Contradiction(
            key,
            conf.get(key),
            "the tag says that map output survives its node; stock map output does not",
            f"without {TAG}, or switch the shuffle on",
        )


def _staging(conf: JobConfiguration) -> Iterator[Contradiction]:
    if not _uses_shuffle(conf):
        return
    staging = conf.get(_STAGING)
    scheme = urlsplit(staging).scheme or urlsplit(conf.get("fs.defaultFS")).scheme
    if scheme and scheme != "lustre":
        yield Contradiction(
            _STAGING,
            staging,
            f"map output goes below it, and it is on {scheme}:",
            "a lustre:/// path",
        )


def _dfs_keys(conf: JobConfiguration) -> Iterator[Contradiction]:
    if urlsplit(conf.get("fs.defaultFS")).scheme in ("hdfs", "viewfs"):
        return
    for found in conf.chosen_with_prefix("dfs."):
        instead = _ON_LUSTRE.get(found.key)
        yield Contradiction(
            found.key,
            found.value,
            "HDFS reads it, Lustre does not",
            f"{instead}={found.value}" if instead else "leave it out",
        )


def _uses_shuffle(conf: JobConfiguration) -> bool:
    if is_off(conf):
        return False
    return COLLECTOR in _names(conf, COLLECTOR_KEY) or conf.get(MERGE_KEY) == MERGE


def is_off(conf: JobConfiguration) -> bool:
    """Returns whether the job switches VAS's shuffle off, for stock's."""
    return conf.get(SWITCH_KEY).strip().lower() == "false"


def lacks_tls(conf: JobConfiguration) -> bool:
    """Returns whether a job demands TLS for map output, and vas-shuffled has no certificate."""
    is_wanted = conf.get(TLS_KEY).strip().lower() == "true"
    return is_wanted and not conf.get(TLS_FILE_KEY).strip()


def keeps_output_on_nodes(conf: JobConfiguration) -> bool:
    """Returns whether a job's properties select a shuffle whose map output is lost with its
    node."""
    return is_off(conf) or conf.get(MERGE_KEY) in (NODE_MERGE, STOCK_SHUFFLE[MERGE_KEY])


def _names(conf: JobConfiguration, key: str) -> list[str]:
    return [name.strip() for name in conf.get(key).split(",") if name.strip()]
