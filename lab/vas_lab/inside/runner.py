"""Runs one Hadoop program inside a lab: `python -m vas_lab.inside.runner STATE_DIR`.

Its stdin is a JobRequest on one line and then stays open: when it ends, so does the job.
Its stdout is events. What the program itself prints goes to the request's log.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vas_cluster.hadoop import configuration_xml
from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab.disk import disk_error
from vas_lab.hadoop.configuration import configuration
from vas_lab.hadoop.daemons import java
from vas_lab.messages import JobRequest
from vas_lab.procfs import cpu_seconds
from vas_lab.spec import LabSpec
from vas_yarn.history import History
from vas_yarn.jobs.client import JobClient, JobProgram
from vas_yarn.jobs.events import Event, emit
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.pauses import with_pauses
from vas_yarn.resourcemanager import ResourceManagerClient


def run_program(spec: LabSpec, request: JobRequest) -> JobResult:
    """Runs a Hadoop program to its end and returns its result.

    Raises VasError if it or one of its jobs fails.
    """
    before = cpu_seconds(Root())
    with client_configuration(spec, request.properties) as conf:
        program = JobProgram(
            name=request.main[0].rpartition(".")[2],
            argv=java(spec, ["-Xmx256m", *request.main], conf, request.jars),
            log=request.log,
            limit_seconds=spec.job_limit_seconds,
        )
        yarn = ResourceManagerClient.at(
            spec.cluster.resourcemanager_address, hint="see `vas lab logs resourcemanager`"
        )
        history = History(f"http://{spec.cluster.yarn.resourcemanager.name}:19888")
        made = JobClient(program, yarn, history, emit).run(sys.stdin.fileno())
    counted = made.model_copy(update={"cpu_seconds": cpu_seconds(Root()) - before})
    # The history is asked after the CPU was counted: the job has no part in that.
    return with_pauses(counted, history)


@contextmanager
def client_configuration(spec: LabSpec, properties: Mapping[str, str]) -> Iterator[Path]:
    """Yields the directory of a copy of the lab's configuration in which `properties` win.

    They are written into every file, because Hadoop reads the files at different moments. Given by
    -D, only programs that use Hadoop's Tool would understand them.
    """
    with tempfile.TemporaryDirectory(dir=spec.temporary, prefix="client-") as name:
        conf = Path(name)
        shutil.copytree(spec.conf, conf, dirs_exist_ok=True)
        for file, lab_properties in configuration(spec).items():
            (conf / file).write_text(configuration_xml({**lab_properties, **properties}))
        yield conf


def main() -> None:
    """Runs the JobRequest of stdin in the lab whose directory is the only argument."""
    spec = LabSpec.model_validate_json((Path(sys.argv[1]) / "spec.json").read_bytes())
    try:
        request = JobRequest.model_validate_json(_first_line())
        emit(Event(kind="ready", text=run_program(spec, request).model_dump_json()))
    except (VasError, OSError) as wrong:
        error = disk_error(wrong, spec.state_dir) if isinstance(wrong, OSError) else wrong
        emit(Event(kind="failed", text=str(error)))
        sys.exit(1)


def _first_line() -> bytes:
    # Byte by byte: a buffered reader would swallow the end of stdin that select() waits for.
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line


if __name__ == "__main__":
    main()
