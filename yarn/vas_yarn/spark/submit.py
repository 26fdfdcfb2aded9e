"""`vas submit --spark`: runs an application of Spark with the site's properties."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from vas_core.cli import json_option, note
from vas_core.errors import BadInput
from vas_yarn.spark.containers import above_known_nodes, spark_containers, too_large
from vas_yarn.spark.here import (
    make_events_directory,
    read_site,
    sizes_are_known,
    users_properties,
)
from vas_yarn.spark.installation import SparkInstallation, find_spark
from vas_yarn.spark.properties import (
    SparkProperty,
    SparkSite,
    as_words,
    beside,
    spark_properties,
)
from vas_yarn.spark.words import SubmitWords, read_words
from vas_yarn.submit.ending import ClientWords, run_and_describe, run_and_lead_on, show

_SPARKS = ClientWords(
    queue="--queue QUEUE",
    stopped="the client was stopped; {} ends too, unless its driver runs on the cluster",
    tasks="where its tasks ran",
)


@dataclass(frozen=True)
class _Submission:
    """A submission that is about to run."""

    spark: SparkInstallation
    rows: Sequence[SparkProperty]
    argv: tuple[str, ...]
    configuration: str
    events: Path

    def as_json(self) -> dict[str, object]:
        return {
            "spark_home": str(self.spark.home),
            "why": self.spark.why,
            "command": list(self.argv),
            "hadoop_conf_dir": self.configuration,
            "properties": [row.as_json() for row in self.rows],
        }


@click.command(
    "--spark", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True}
)
@click.option("--dry-run", is_flag=True, help="Print the command instead of running it.")
@click.option("--stock-shuffle", is_flag=True, help="Leave Spark's own shuffle on.")
@json_option
@click.argument(
    "words", metavar="[SPARK'S OPTIONS] APP [ARGS]...", nargs=-1, type=click.UNPROCESSED
)
def submit_spark(dry_run: bool, stock_shuffle: bool, as_json: bool, words: tuple[str, ...]) -> int:
    """Run an application of Spark with this site's properties, as `spark-submit` would.

    What stands before APP goes to spark-submit as it is, and wins over the site's properties; so
    do your own files of properties, spark-defaults.conf among them.

    \b
    Examples: vas submit --spark my.py lustre:///PROJECT/in
              vas submit --spark --queue QUEUE --num-executors 4 my.py
              vas submit --spark --dry-run --class org.example.Main my.jar

    \f
    Raises BadInput without an application, for one that is not there and for containers that YARN
    refuses; NotHere without a Spark or VAS's jars.
    """
    if not words:
        hint = "name a .py, a .jar or a .R: vas submit --spark my.py"
        raise BadInput("an application is missing", where="--spark", hint=hint)
    found = _prepare(words, shuffle=not stock_shuffle)
    if dry_run:
        return show(found.argv, found.as_json(), as_json=as_json)
    make_events_directory(found.events)
    os.environ["HADOOP_CONF_DIR"] = found.configuration
    if as_json:
        return run_and_describe(found.argv, found.as_json())
    return run_and_lead_on(found.argv, _SPARKS)


def _prepare(words: Sequence[str], *, shuffle: bool) -> _Submission:
    spark = find_spark()
    site, configuration = read_site(spark, shlex.join(["vas", "submit", "--spark", *words]))
    read = read_words(words)
    check_application(read)
    files = users_properties(spark, read)
    own = {key: each.value for key, each in files.items()}
    rows, replaced = beside(spark_properties(site, shuffle=shuffle), own)
    larger: list[str] = []
    if sizes_are_known(spark):
        larger = check_containers(site, own | {row.key: row.value for row in rows}, read)
    note(f"Spark {spark.home}: {spark.why}")
    for row in rows:
        note(f"{row.key}={row.value}: {row.why}")
    for row in replaced:
        note(f"{row.key}: {files[row.key].file} sets it, so it is not {row.value}")
    for sentence in larger:
        note(sentence)
    argv = (str(spark.submit), *as_words(rows), *words)
    return _Submission(spark, rows, argv, configuration, site.events)


def check_application(words: SubmitWords) -> None:
    """Raises BadInput where the application is a file of this machine that is not there.

    What Spark fetches from elsewhere, or finds on each node, is not looked at
    (SubmitWords.local_application).
    """
    file = words.local_application()
    if file is not None and not file.is_file():
        hint = "name a file of this machine, or a URL like lustre:///PROJECT/my.py"
        what = "is not a file" if file.exists() else "the application is not there"
        raise BadInput(what, where=str(file.absolute()), hint=hint)


def check_containers(site: SparkSite, own: Mapping[str, str], words: SubmitWords) -> list[str]:
    """Returns a sentence for each container that is larger than the nodes that are known.

    There may be larger ones. Raises BadInput for containers above YARN's own limits, which it
    refuses.
    """
    containers = spark_containers({**own, **words.properties()}, is_python=words.is_python)
    if problems := too_large(containers, site.limits):
        raise BadInput("; ".join(problems), where="--spark")
    return above_known_nodes(containers, site.limits)
