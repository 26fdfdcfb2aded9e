"""A site whose runs are made up, for every command that plays rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp

from made_up_jobs import a_job

from vas_bench.engine.resume import Environment
from vas_bench.engine.rounds import RunIdentity
from vas_bench.results.record import Validation
from vas_bench.results.systems import NAME_OF
from vas_bench.run.experiments import Experiment
from vas_bench.run.measures import job_measures
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import Details, OutputCheck
from vas_core.errors import VasError

RECORDED = ("yarn-lustre-hosts", "vas-locality", "vas")


class Recorded:
    """A site on which a system takes as many seconds as its arm's name has letters.

    Numbers of runs, from 1: `fails_at` fails, in `interrupted_at` the user presses Ctrl-C.
    """

    plan: BenchPlan

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.fails_at = self.interrupted_at = 0
        self.checksums: dict[str, str] = {}
        self.learned = Path(mkdtemp()) / "learned.json"

    def opened(self, plan: BenchPlan, *_: object) -> Recorded:
        self.plan = plan
        return self

    def check(self, experiments: Sequence[Experiment]) -> None: ...

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        told = dict(experiment.system_properties)
        return RunIdentity(experiment, told, {"vas": "1"})

    def environment(self) -> Environment:
        return {"kernel": "6.1"}

    def up(self, experiment: Experiment) -> None: ...

    def prepare(self, experiment: Experiment) -> None: ...

    def drop_caches(self) -> None: ...

    def begin(self, system: str) -> None:
        """Notes a run. Raises what is to end it."""
        self.ran.append(system)
        if len(self.ran) == self.fails_at:
            raise VasError("no room")
        if len(self.ran) == self.interrupted_at:
            raise KeyboardInterrupt

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        self.begin(experiment.system)
        group = "org.apache.hadoop.mapreduce.JobCounter"
        counters = {
            group: {"DATA_LOCAL_MAPS": 4, "TOTAL_LAUNCHED_MAPS": 4},
            "": {"CPU_MILLISECONDS": 9, "MAP_OUTPUT_BYTES": 100, "FILE_BYTES_WRITTEN": 100},
        }
        seconds = len(NAME_OF.get(experiment.system, "Tez")) + len(self.ran) / 100
        return job_measures(a_job(counters)) | {"job_seconds": seconds}

    def validate(self, experiment: Experiment) -> OutputCheck:
        checksum = self.checksums.get(experiment.system, "abc")
        return OutputCheck(Validation(ok=True, check="made up", checksum=checksum))

    def details(self, experiment: Experiment) -> Details:
        return Details()

    def down(self) -> None: ...
