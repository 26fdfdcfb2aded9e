"""Apache Tez, for comparison: its jars, the properties of jobs on it, and their history."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vas_bench.run.session import Details
from vas_bench.run.tez_history import TezHistory, parse
from vas_bench.run.times import phases_of
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace, OnEvent, PlaceFacts
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.trees import inside

_PLUGINS = REPOSITORY / "yarn-plugins"
_TARGET = _PLUGINS / "tez/target"
_VERSION = re.compile(r"<tez\.version>([^<]+)</")
NAME = "Tez"
# An application master closes its history a moment after its client has heard of the end.
_HISTORY_SECONDS = 30.0


def tez_version() -> str:
    """Returns Tez's version, which the plugins' POM pins."""
    found = _VERSION.search((_PLUGINS / "pom.xml").read_text())
    assert found, "yarn-plugins/pom.xml: no property tez.version"
    return found[1]


def tez_jars() -> tuple[Path, ...]:
    """Returns Tez's jars and those that it needs besides Hadoop's; none before they are fetched."""
    lib = _TARGET / "lib"
    is_there = (lib / f"tez-dag-{tez_version()}.jar").is_file()
    return tuple(sorted(lib.glob("*.jar"))) if is_there else ()


def fetch_tez(say: Callable[[str], None]) -> tuple[Path, ...]:
    """Returns Tez's jars, from Maven Central if need be. Raises VasError when that fails."""
    if not tez_jars():
        say(f"fetching Apache Tez {tez_version()} from Maven Central, to measure against (7 MB)")
        shutil.rmtree(_TARGET, ignore_errors=True)
        argv = ["mvn", "-q", "-B", "-f", str(_PLUGINS / "pom.xml"), "-P", "tez", "-pl", "tez"]
        # The repository that ./vas compared with the record, if it did.
        if compared := os.environ.get("VAS_MAVEN_REPOSITORY"):
            argv.append(f"-Dmaven.repo.local={compared}")
        run([*argv, "package"])
    if not tez_jars():
        raise VasError("Maven brought no Tez", where=str(_TARGET))
    return tez_jars()


def job_properties(history: str) -> dict[str, str]:
    """Returns the properties of every MapReduce job on Tez.

    `history` is the directory where Tez writes the job's history.
    """
    return {
        "mapreduce.framework.name": "yarn-tez",
        "tez.use.cluster.hadoop-libs": "true",
        # Its servlets are Jersey 1's, and Hadoop's Jersey 2: the application master would hang.
        "tez.am.tez-ui.webservice.enable": "false",
        "tez.am.container.reuse.enabled": "true",
        "tez.simple.history.logging.dir": history,
        "tez.am.sleep.time.before.exit.millis": "1000",
    }


def arm_on(properties: Mapping[str, str], jars: tuple[Path, ...]) -> Arm:
    """Returns the arm of jobs on Tez, with these properties, and these jars for their clients."""
    return Arm("tez", NAME, f"Apache Tez {tez_version()}, containers used again", properties, jars)


class WithTez:
    """A `JobPlace` around another one. `last` is the history of the last job, if it ran on Tez.

    `history` is the directory where Tez is told to write it.
    """

    def __init__(self, place: JobPlace, history: str) -> None:
        self._place, self._directory = place, history
        self.last: TezHistory | None = None

    @property
    def spec(self) -> PlaceFacts:
        """The other place's map and directory."""
        return self._place.spec

    def refuse_broken(self) -> None:
        """Raises VasError if the other place is broken."""
        self._place.refuse_broken()

    def call(
        self, argv: Sequence[str], *, node: str | None = None, check: bool = True
    ) -> Completed:
        """Runs a program at the other place."""
        return self._place.call(argv, node=node, check=check)

    def run_job(
        self,
        argv: Sequence[str],
        conf: Mapping[str, str] | None = None,
        *,
        jars: Sequence[Path] = (),
        on_event: OnEvent = lambda _: None,
    ) -> JobResult:
        """Runs a job at the other place; a job on Tez gets its counters from Tez's history."""
        self.last = None
        done = self._place.run_job(argv, conf, jars=jars, on_event=on_event)
        if done.counters or not done.application_id:
            return done
        self.last = self._history(done.application_id)
        return self.last.job(done)

    def _history(self, application: str) -> TezHistory:
        attempt = application.replace("application_", "appattempt_") + "_000001"
        file = inside(self._place, f"{self._directory}/history.txt.{attempt}")

        def look() -> TezHistory | None:
            return parse(self._place.call(["cat", str(file)], check=False).stdout)

        what = f"the end of {application} in {file}"
        found = poll(look, lambda seen: seen is not None, _HISTORY_SECONDS, what)
        assert found is not None
        return found


def details_of(history: TezHistory | None) -> Details:
    """Returns the phases of a run on Tez, which keeps no record of a map's split."""
    return Details(phases_of(history.times())) if history else Details()
