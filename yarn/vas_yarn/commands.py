"""`vas job`: what became of a job's placement, its I/O, and what its jar does."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from getpass import getuser
from pathlib import Path

import click

from vas_cluster import Cluster, load_cluster, load_site
from vas_core.cli import json_option, note, print_json
from vas_core.errors import BadInput, VasError
from vas_core.lazy import Later, LazyGroup
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_layout.store import LayoutReader
from vas_yarn import placement_log
from vas_yarn.blocks import Blocks
from vas_yarn.ca import ca_option
from vas_yarn.history import History, MapAttempt, Split, job_id
from vas_yarn.lint.jar_command import lint_jar
from vas_yarn.locality import MapLocality, judge
from vas_yarn.placement_log import PlacementDecision
from vas_yarn.resourcemanager import ResourceManagerClient
from vas_yarn.rest import NotKnown
from vas_yarn.site_files import JobConfiguration, machine_configuration
from vas_yarn.site_services import history_url, manager_urls
from vas_yarn.spark.eventlog import find_event_log
from vas_yarn.spark.here import events_directory
from vas_yarn.spark.locality import show_spark

_MAPREDUCE, _SPARK = "MAPREDUCE", "SPARK"
_LOGS_ARRIVE_SECONDS = 30
_POLL_SECONDS = 1
_LATER = {
    "io": Later(
        "vas_yarn.jobstats.command:show_io",
        "Show applications' I/O on this server of Lustre.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def job() -> None:
    """Check a job's jar, show where a job ran and what it reads and writes."""


job.add_command(lint_jar)


@job.command()
@click.argument("application_id")
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    help="The site's map. [default: $VAS_CLUSTER, else /etc/vas/cluster.yaml]",
)
@click.option(
    "--history",
    help="URL of the JobHistoryServer. [default: that of the site's configuration, else"
    " http://RESOURCEMANAGER:19888]",
)
@click.option(
    "--log",
    "logs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A log with the plugin's decisions. [default: $VAS_PLACEMENT_LOG, else the job's own"
    " file in vas.placement.log-directory, which its owner may read]",
)
@ca_option
@json_option
def locality(
    application_id: str,
    cluster_file: Path | None,
    history: str | None,
    logs: tuple[Path, ...],
    ca: Path | None,
    as_json: bool,
) -> None:
    """Show where each map ran, where its stripe is, and why; of Spark, each stage's tasks.

    An application of Spark is found by its event log, which `vas submit --spark` has written.

    \b
    Example: vas job locality application_1700000000000_0001
             vas job locality job_1700000000000_0001 --log /var/log/hadoop/rm.log --json

    \f
    Raises BadInput for a wrong id, VasError where a server does not answer.
    """
    job_name = job_id(application_id)
    cluster = _site(cluster_file, application_id)
    conf = machine_configuration(note)
    application = job_name.replace("job_", "application_")
    events = events_directory(conf, cluster, getuser())
    if log := find_event_log(events, application):
        own = _decision_files(conf, getuser(), application, logs)
        show_spark(log, _decisions_in(own, application), as_json)
        return
    url = history or history_url(conf, cluster)
    server = History(url, ca)
    try:
        user = str(server.job(job_name).get("user", ""))
        decisions = _decisions(conf, user, application, logs)
        rows = list(_rows(server, job_name, cluster, decisions))
    except NotKnown as missing:
        kind = _framework(manager_urls(conf, cluster), application, ca)
        raise _unknown(application, kind, url, events) from missing
    if as_json:
        print_json([row.as_json() for row in rows])
    else:
        _print(rows)


def _framework(urls: tuple[str, ...], application: str, ca: Path | None) -> str:
    """The application's framework by the first ResourceManager that knows it; else empty."""
    for url in urls:
        with suppress(VasError):
            if kind := ResourceManagerClient.of(url, ca=ca).kind(application):
                return kind
    return ""


def _unknown(application: str, kind: str, history: str, events: Path) -> VasError:
    """The error for an application that neither MapReduce's history nor an event log has."""
    if kind not in ("", _MAPREDUCE, _SPARK):
        what = f"is an application of {kind}, and the history has MapReduce's jobs alone"
        hint = f"see where its tasks ran in {kind}'s own history or web page"
        return BadInput(what, where=application, hint=hint)
    no_log = f"Spark's event logs in {events}"
    by_user = "run it by `vas submit --spark` as this user, which has an event log written there"
    if kind == _SPARK:
        what = f"is an application of {kind}, and {no_log} have none of it"
        return BadInput(what, where=application, hint=by_user)
    what = f"neither the JobHistoryServer {history} nor {no_log} have it"
    hint = (
        "check the id: `vas submit` printed it; a job shows up some seconds after its end; for an"
        f" application of Spark, {by_user}"
    )
    return NotKnown(what, where=application, hint=hint)


def _site(cluster_file: Path | None, application_id: str) -> Cluster:
    if cluster_file:
        return load_cluster(cluster_file)
    return load_site("name it by --cluster", f"vas job locality {application_id}")


def _decisions(
    conf: JobConfiguration, user: str, app: str, named: tuple[Path, ...]
) -> list[PlacementDecision] | None:
    """The decisions about a user's job; None where no log was read, after a note that says why."""
    if files := _decision_files(conf, user, app, named):
        return _decisions_in(files, app)
    if directory := conf.get(placement_log.DIRECTORY_KEY):
        why = (
            f"{directory}/{user} has no file of {app} that you may read; its owner may, or name a"
            " log by --log"
        )
    else:
        why = f"{placement_log.DIRECTORY_KEY} is not set here; name a log by --log"
    note(f"no placement log was read: {why}")
    return None


def _decision_files(
    conf: JobConfiguration, user: str, app: str, named: tuple[Path, ...]
) -> list[Path]:
    """The logs to read for an application: those named, else its own of its user's."""
    logs = list(named) or [Path(log) for log in (os.environ.get("VAS_PLACEMENT_LOG"),) if log]
    directory = conf.get(placement_log.DIRECTORY_KEY)
    if not logs and directory:
        return placement_log.files_of(Path(directory), user, app)
    return logs


def _decisions_in(files: list[Path], app: str) -> list[PlacementDecision]:
    return [each for each in placement_log.read(files) if each.app == app]


def _rows(
    server: History, job: str, cluster: Cluster, decisions: list[PlacementDecision] | None
) -> Iterator[MapLocality]:
    blocks = Blocks(cluster, server.properties(job), LayoutReader())
    attempts = server.maps(job)
    splits = _splits(server, attempts, server.finish_ms(job) / 1000)
    first = {a.container_id: a for a in sorted(attempts, key=lambda a: a.start_ms, reverse=True)}
    for attempt in attempts:
        split = splits[attempt]
        try:
            placements, block = blocks.of(split) if split else ([], None)
        except VasError as unreadable:
            note(f"vas: {unreadable}")
            placements, block = [], None
        warm = attempt is not first[attempt.container_id]
        yield judge(attempt, split, placements, block, cluster, decisions, warm=warm)


def _splits(
    server: History, attempts: list[MapAttempt], finished: float
) -> dict[MapAttempt, Split | None]:
    """Each attempt's split. YARN gathers the logs they stand in some seconds after a job's end."""
    splits = server.splits(attempts)
    missing = [attempt for attempt in attempts if splits[attempt] is None]
    if missing and time.time() < finished + _LOGS_ARRIVE_SECONDS:
        note("waiting for YARN to gather the logs of a job that has just ended")
    while missing and time.time() < finished + _LOGS_ARRIVE_SECONDS:
        time.sleep(_POLL_SECONDS)
        splits |= server.splits(missing)
        missing = [attempt for attempt in missing if splits[attempt] is None]
    return splits


def _print(rows: list[MapLocality]) -> None:
    columns = ("MAP", "SPLIT", "OST", "OSS", "VM", "RAN ON", "WHERE", "WHY")
    print_table(columns, (_cells(row) for row in rows))
    counts = Counter(row.where for row in rows)
    local, total = (sum(bytes_) for bytes_ in zip(*_bytes(rows), strict=True)) if rows else (0, 0)
    summary = ", ".join(f"{count} {where}" for where, count in counts.most_common())
    maps = counted(len(rows), "map")
    click.echo(f"\n{maps}: {summary}; {format_size(local)} of {format_size(total)} local")


def _bytes(rows: list[MapLocality]) -> Iterator[tuple[int, int]]:
    for row in rows:
        yield row.local_bytes, row.length or 0


def _cells(row: MapLocality) -> tuple[object, ...]:
    split = f"{row.path}:{row.offset}+{row.length}" if row.path else "-"
    place = ("-" if value is None else value for value in (row.ost, row.oss, row.vm))
    return (row.task.rpartition("_")[2], split, *place, row.ran_on, row.where.value, row.why)
