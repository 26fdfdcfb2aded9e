"""`vas shuffle`: map output on Lustre, and on a node's own disks."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from vas_cluster import Cluster, load_site
from vas_core.cli import DurationType, json_option, note, print_json
from vas_core.errors import BadInput, ExitStatus, FoundDifferent, VasError
from vas_core.lazy import LazyGroup
from vas_core.shown import shown
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_yarn.ca import ca_option
from vas_yarn.history import job_id
from vas_yarn.resourcemanager import ActiveResourceManager
from vas_yarn.shuffle.janitor.store import StagingStore
from vas_yarn.shuffle.janitor.sweep import SweepRow, sweep
from vas_yarn.shuffle.job import ShuffleAttempt, attempts, find
from vas_yarn.shuffle.manifest import OutputManifest
from vas_yarn.shuffle.node_commands import (
    inspect_local,
    list_local,
    local_damage,
    local_option,
)
from vas_yarn.shuffle.sizes import ReducerInput, reducer_inputs
from vas_yarn.shuffle.verify import OutputDamage
from vas_yarn.shuffle.verify import verify as damage_of
from vas_yarn.site_files import machine_configuration
from vas_yarn.site_services import manager_urls, staging_directory

_AGE = DurationType(least_seconds=0, days=True)
_LEAST_ASSUMED_SECONDS = 7 * 86400

_staging = click.option(
    "--staging",
    type=click.Path(path_type=Path),
    help="yarn.app.mapreduce.am.staging-dir on this machine."
    " [default: $VAS_STAGING, else what the site's configuration says, below the mount]",
)


@click.group(cls=LazyGroup)
def shuffle() -> None:
    """Look at map output, and remove that of jobs that ended."""


@shuffle.command()
@click.argument("job")
@_staging
@local_option
@json_option
def ls(job: str, staging: Path | None, local_dirs: tuple[Path, ...], as_json: bool) -> int:
    """List the map attempts of a job and what each published.

    An attempt can fail after it has published. Reducers read the attempt that the application
    master named to them as succeeded; which one that was is not on disk.

    The map output of jobs with --shuffle node, or with stock's shuffle, lies on the disks of the
    nodes where their maps ran: run this command on each node, with --local.

    \b
    Example: vas shuffle ls job_1700000000000_0001
             vas shuffle ls /scratch/yarn/staging/ann/.staging/job_1700000000000_0001 --json
             vas shuffle ls job_1700000000000_0001 --local /data1/yarn --local /data2/yarn
    \f
    Raises BadInput for --local with --staging, and for a job without map output there.
    """
    if _is_local(local_dirs, staging):
        return list_local(job, local_dirs, as_json)
    found = list(_attempts(job, staging))
    if as_json:
        print_json([_listed(attempt) for attempt in found])
    else:
        columns = ("ATTEMPT", "STATE", "HOST", "RUNS", "FILES", "SEGMENTS", "RECORDS", "STORED")
        print_table(columns, (_cells(attempt) for attempt in found))
    _note_rivals(found)
    return _status(any(attempt.damage for attempt in found))


@shuffle.command()
@click.argument("job")
@_staging
@local_option
@json_option
def inspect(job: str, staging: Path | None, local_dirs: tuple[Path, ...], as_json: bool) -> int:
    """Show what each reducer of a job reads, and how uneven that is.

    Counts one published attempt of each map: the first. With --local, counts only what reducers
    read from this node's disks.

    \b
    Examples: vas shuffle inspect job_1700000000000_0001
              vas shuffle inspect job_1700000000000_0001 --local /data1/yarn --json
    \f
    Raises BadInput for --local with --staging, and for a job without map output there.
    """
    if _is_local(local_dirs, staging):
        return inspect_local(job, local_dirs, as_json)
    found = list(_attempts(job, staging))
    rows = reducer_inputs(_one_of_each_map(found))
    if as_json:
        print_json([row.as_json() for row in rows])
    else:
        columns = ("REDUCER", "MAPS", "SEGMENTS", "RECORDS", "RAW", "STORED", "SKEW")
        print_table(columns, (_reducer_cells(row) for row in rows))
    _note_rivals(found)
    return _status(any(attempt.damage for attempt in found))


@shuffle.command()
@click.argument("job")
@_staging
@local_option
@click.option(
    "--encrypted",
    is_flag=True,
    help="Compare lengths only, with --local, as the map output is encrypted.",
)
@json_option
def verify(
    job: str, staging: Path | None, local_dirs: tuple[Path, ...], encrypted: bool, as_json: bool
) -> None:
    """Read all map output of a job and compare it with what was published.

    With --local, reads the map output on this node's disks and compares it with stock's own
    checksums. Status 3 if something is damaged, 1 if the file system fails.

    \b
    Examples: vas shuffle verify job_1700000000000_0001
              vas shuffle verify job_1700000000000_0001 --local /data1/yarn --encrypted
    \f
    Raises FoundDifferent if something is damaged, BadInput for --local with --staging and for a job
    without map output there, VasError or OSError if the file system fails.
    """
    published, damages = 0, list[OutputDamage]()
    if _is_local(local_dirs, staging):
        published, damages = local_damage(job, local_dirs, encrypted=encrypted)
    else:
        for attempt in _attempts(job, staging):
            published += attempt.manifest is not None
            damages += damage_of(attempt)
    if as_json:
        print_json({"published": published, "damage": [damage.as_json() for damage in damages]})
    elif damages:
        rows = (
            (d.attempt, d.file, _or_dash(d.partition), _or_dash(d.offset), d.what) for d in damages
        )
        print_table(("ATTEMPT", "FILE", "REDUCER", "OFFSET", "DAMAGE"), rows)
    else:
        click.echo(f"{published} map outputs are what was published")
    if damages:
        raise FoundDifferent(
            f"{len(damages)} damaged places in map output",
            where=job,
            hint="those maps run again when a reducer of a live job meets them",
        )


@shuffle.command()
@_staging
@click.option(
    "--resourcemanager",
    "managers",
    multiple=True,
    help="Web address of a ResourceManager; several for HA."
    " [default: those of the site's configuration, else the map's, port 8088]",
)
@ca_option
@click.option(
    "--grace",
    type=_AGE,
    default="24h",
    show_default=True,
    help="Time after a job's end before its map output is removed.",
)
@click.option(
    "--assume-over",
    type=_AGE,
    metavar="AGE",
    help="Age after which an unchanged directory counts as that of an ended job, if the"
    " ResourceManager does not know the job; like 30d, at least 7d. [default: never]",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done; do nothing.")
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write for Prometheus' node exporter, after a complete run.",
)
@json_option
def gc(
    staging: Path | None,
    managers: tuple[str, ...],
    ca: Path | None,
    grace: int,
    assume_over: int | None,
    dry_run: bool,
    metrics: Path | None,
    as_json: bool,
) -> int:
    """Remove map output of jobs that ended.

    A directory of a job that has been over for longer than --grace is moved to a quarantine, and
    deleted after the same time again. If there is any doubt about it, it is printed and stays.

    \b
    Examples: vas shuffle gc --dry-run
              vas shuffle gc --assume-over 30d
    \f
    Raises BadInput for a short --assume-over, VasError if YARN fails, VasError or OSError if the
    file system fails.
    """
    if assume_over is not None and assume_over < _LEAST_ASSUMED_SECONDS:
        raise BadInput(
            "is less than 7d, which a job may run", where="--assume-over", hint="say 30d"
        )
    manager = ActiveResourceManager.find(managers or _managers(), ca)
    over_ms = None if assume_over is None else assume_over * 1000
    store = StagingStore(_root(staging))
    found = sweep(store, manager, grace * 1000, assume_over_ms=over_ms, dry_run=dry_run)
    rows = _swept(found, store, as_json)
    _say_rows(rows, as_json, even_none=True)
    if metrics and not dry_run:
        # Only here: it takes a while to import, which `vas --help` need not wait for.
        from vas_yarn.shuffle.janitor.metrics import write_metrics

        write_metrics(metrics, store.root, rows, time.time())
    return ExitStatus.FAILED if any(map(_is_failure, rows)) else ExitStatus.DONE


def _swept(found: Iterator[SweepRow], store: StagingStore, as_json: bool) -> list[SweepRow]:
    """All rows of a sweep; where it fails, what it had done is said before the error is raised."""
    rows: list[SweepRow] = []
    try:
        rows.extend(found)
    except OSError as wrong:
        _say_rows([row for row in rows if row.done], as_json)
        raise VasError(f"the file system fails: {wrong}", where=str(store.root)) from wrong
    except VasError:
        _say_rows([row for row in rows if row.done], as_json)
        raise
    finally:
        store.close()
    return rows


def _say_rows(rows: list[SweepRow], as_json: bool, *, even_none: bool = False) -> None:
    if not rows and not even_none:
        return
    if as_json:
        print_json([row.as_json() for row in rows])
    elif not rows:
        click.echo("nothing is left by jobs")
    else:
        print_table(("WHERE", "VERDICT", "DONE", "WHY"), (_gc_cells(row) for row in rows))
    for row in rows:
        if row.failed or row.verdict in ("refused", "doubt"):
            note(f"vas: {shown(row.where)}: {row.why}; it stays")


def _is_failure(row: SweepRow) -> bool:
    # What a user can plant (refused) is no failure of the run; a ResourceManager that answers
    # nonsense is one, after all the others were looked after.
    return row.failed or row.verdict == "doubt"


def _gc_cells(row: SweepRow) -> tuple[object, ...]:
    return (row.where, row.verdict, "yes" if row.done else "no", row.why)


def _is_local(local_dirs: tuple[Path, ...], staging: Path | None) -> bool:
    if local_dirs and staging:
        raise BadInput("one of the two", where="--local and --staging", hint="leave one out")
    return bool(local_dirs)


def _attempts(job: str, staging: Path | None) -> Iterator[ShuffleAttempt]:
    is_id = "/" not in job and not Path(job).exists()
    yield from attempts(find(job_id(job), _root(staging)) if is_id else find(job, Path()))


def _root(staging: Path | None) -> Path:
    if staging is not None:
        return staging
    if named := os.environ.get("VAS_STAGING"):
        return Path(named)
    return staging_directory(machine_configuration(note), _site("--staging"))


def _managers() -> tuple[str, ...]:
    return manager_urls(machine_configuration(note), _site("--resourcemanager"))


def _site(option: str) -> Cluster:
    return load_site(f"give {option}, or name the map's file by $VAS_CLUSTER")


def _one_of_each_map(found: list[ShuffleAttempt]) -> Iterator[OutputManifest]:
    seen: set[str] = set()
    for attempt in found:
        if attempt.manifest and attempt.task not in seen:
            seen.add(attempt.task)
            yield attempt.manifest


def _note_rivals(found: list[ShuffleAttempt]) -> None:
    published = Counter(attempt.task for attempt in found if attempt.manifest)
    rivals = sum(count > 1 for count in published.values())
    if rivals:
        note(
            f"vas: {rivals} maps have more than one published attempt; reducers read the one that"
            " succeeded, which only the application master knows"
        )


def _listed(attempt: ShuffleAttempt) -> dict[str, object]:
    manifest = attempt.manifest
    row: dict[str, object] = {"attempt": attempt.path.name, "state": attempt.state}
    if manifest is None:
        return row | {"damage": attempt.damage}
    return row | {
        "host": manifest.host,
        "compressed": manifest.compressed,
        "encrypted": manifest.encrypted,
        "partitions": manifest.partitions,
        "runs": manifest.runs,
        "files": {file.name: file.length for file in manifest.files},
        "segments": len(manifest.segments),
        "records": manifest.records,
        "stored_bytes": manifest.stored_bytes,
    }


def _cells(attempt: ShuffleAttempt) -> tuple[object, ...]:
    manifest = attempt.manifest
    if manifest is None:
        return (attempt.path.name, attempt.damage or attempt.state, *"------")
    counts = (manifest.runs, len(manifest.files), len(manifest.segments), manifest.records)
    stored = format_size(manifest.stored_bytes)
    return (attempt.path.name, attempt.state, manifest.host or "-", *counts, stored)


def _reducer_cells(row: ReducerInput) -> tuple[object, ...]:
    sizes = (format_size(row.raw_bytes), format_size(row.stored_bytes))
    return (row.partition, row.maps, row.segments, row.records, *sizes, f"{row.skew:.2f}")


def _or_dash(number: int | None) -> object:
    return "-" if number is None else number


def _status(damaged: bool) -> int:
    return ExitStatus.DIFFERENT if damaged else ExitStatus.DONE
