"""Writes the demo's runs as a file of results, and a report of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vas_bench.demo.arms import Done, what_it_shows
from vas_bench.report.facts import facts_of
from vas_bench.report.page import html, page_of
from vas_bench.results.environment import environment, lab_versions
from vas_bench.results.record import BenchRun, make_run
from vas_bench.run.measures import job_measures
from vas_core.files import write_atomically
from vas_core.program import as_called
from vas_core.root import Root
from vas_lab.spec import LabSpec
from vas_yarn.jobs.terasort import TeraSortSizes


def write_report(
    spec: LabSpec, done: Sequence[Done], sizes: TeraSortSizes, hosts: int, command: str
) -> Path:
    """Writes results.jsonl and report.html next to the lab's files; returns the page's path.

    `command` is what the user typed, and stands in both. Raises OSError where they cannot be
    written.
    """
    versions = lab_versions(spec.hadoop_lib, spec.java_home)
    runs = [_run(each, number, sizes, hosts, versions, command) for number, each in enumerate(done)]
    lines = "".join(run.model_dump_json() + "\n" for run in runs)
    write_atomically(spec.state_dir / "results.jsonl", lines)
    note = as_called(what_it_shows("Data local maps", "local byte share")).replace("`", "")
    title = f"VAS demo: TeraSort, {len(runs)} ways, once each"
    page = page_of(facts_of(runs, "yarn-lustre-hosts"), title, [note])
    target = spec.state_dir / "report.html"
    write_atomically(target, html(page))
    return target


def _run(
    done: Done,
    number: int,
    sizes: TeraSortSizes,
    hosts: int,
    versions: dict[str, str],
    command: str,
) -> BenchRun:
    size_bytes = sizes.size_bytes
    return make_run(
        id=f"demo-{done.started:%Y%m%dT%H%M%SZ}-{number}",
        time=done.started,
        workload="terasort",
        system=done.arm.system,
        parameters={"hosts": hosts, "size_bytes": size_bytes, "split_bytes": sizes.split_bytes},
        configuration=dict(done.arm.properties),
        versions=versions,
        environment=environment(Root()),
        command=command,
        measures=job_measures(done.job),
        validation={"ok": True, "check": "TeraValidate", "checksum": done.checksum},
    )
