"""Makes inputs, runs jobs and checks outputs of experiments at a place, a lab's or a site's."""

from __future__ import annotations

import json
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vas_bench.engine.rounds import RunIdentity
from vas_bench.results.record import HostLocality, Validation
from vas_bench.run.examples import Data
from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import Details, OutputCheck, RunSite
from vas_bench.run.systems import STOCK, sizes_of
from vas_bench.run.tez import WithTez, details_of, fetch_tez, tez_version
from vas_bench.run.tez_history import TezHistory
from vas_bench.run.times import JobTimes, phases_of
from vas_bench.run.workloads import WORKLOADS
from vas_core.errors import VasError
from vas_core.root import Root
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import Arm

# Of jobs without splits these would say where tasks ran that read nothing there.
_OF_LUSTRE = ("local_input_bytes", "local_byte_share")
_OF_SPLITS = ("data_local_maps", "local_map_share", "local_input_bytes", "local_byte_share")


@dataclass
class Jobs:
    """The jobs of a plan at one place, below a `directory` of its file systems.

    `hdfs` is what HDFS's paths begin with, `name_node_web` the URL of its NameNode, and
    `history` the options that name the JobHistoryServer to the programs that ask it, where it
    is not at its usual address. `prepare` and `run` raise VasError when they fail.
    """

    place: WithTez
    directory: str
    say: Callable[[str], None]
    hdfs: str = ""
    history: Sequence[str] = ()
    name_node_web: str = ""
    _data: dict[object, Data] = field(default_factory=dict)
    _in_hdfs: dict[object, Data] = field(default_factory=dict)
    _expected: dict[object, str] = field(default_factory=dict)
    _last: JobResult | None = None
    _of_tez: TezHistory | None = None

    def prepare(self, experiment: Experiment) -> None:
        """Makes the input and, where outputs must equal stock's, the checksum of stock's."""
        content = experiment.data
        if content not in self._data:
            self.say(f"making the input of {experiment.workload}")
            self._data[content] = self._made(experiment)
        if experiment.in_hdfs and content not in self._in_hdfs:
            self.say(f"copying the input of {experiment.workload} into HDFS")
            copy = self._new(experiment, self.hdfs)
            copy.copy_from(self._data[content])
            self._in_hdfs[content] = copy

    def _made(self, experiment: Experiment) -> Data:
        data = self._new(experiment)
        data.generate()
        if WORKLOADS[experiment.workload].as_stock:
            data.run(STOCK)
            self._expected[experiment.data] = data.validate(STOCK)
        return data

    def _new(self, experiment: Experiment, root: str = "") -> Data:
        number = len(self._data) + len(self._in_hdfs)
        directory = f"{root}{self.directory}/{number}-{experiment.workload}"
        return WORKLOADS[experiment.workload].data(self.place, sizes_of(experiment), directory)

    def run(self, experiment: Experiment, arm: Arm) -> JobResult:
        """Runs an experiment's job as one arm, on Lustre or HDFS as its system has the data."""
        self._last = None
        self._last = self._of(experiment).run(arm)
        # Its check runs other jobs at the place.
        self._of_tez = self.place.last
        return self._last

    def validate(self, experiment: Experiment, arm: Arm) -> OutputCheck:
        """Checks the output against stock's where it must be equal, and removes it."""
        check = WORKLOADS[experiment.workload].check
        try:
            checksum = self._of(experiment).validate(arm)
        except VasError as wrong:
            return OutputCheck(Validation(ok=False, check=check), str(wrong))
        expected = self._expected.get(experiment.data, checksum)
        made = Validation(ok=checksum == expected, check=check, checksum=checksum)
        return OutputCheck(made, "" if made.ok else f"it is {checksum}, stock's {expected}")

    def details(self, experiment: Experiment) -> Details:
        """Returns phases and locality of the last run, from MapReduce's history or Tez's.

        It prints what cannot be read, and leaves it out.
        """
        job = self._last
        if job is None:
            return Details()
        if experiment.system == "tez":
            return details_of(self._of_tez)
        times = self._ask("vas_bench.run.times", job, *self.history)
        phases = phases_of(JobTimes.model_validate(times)) if times else {}
        if not WORKLOADS[experiment.workload].has_splits:
            return Details(phases)
        if experiment.in_hdfs:
            there = ("--name-node", self.name_node_web)
            rows = self._ask("vas_bench.run.hdfs_locality", job, *there, *self.history)
        else:
            rows = self._ask("vas_core", job, "job", "locality", "--json", *self.history)
        return Details(phases, localities(rows or []))

    def _of(self, experiment: Experiment) -> Data:
        return (self._in_hdfs if experiment.in_hdfs else self._data)[experiment.data]

    def _ask(self, module: str, job: JobResult, *words: str) -> Any:
        """The JSON that a program at the place prints of a job; None if it does not."""
        argv = [sys.executable, "-P", "-m", module, *words, job.job_id]
        try:
            return json.loads(self.place.call(argv).stdout)
        except (VasError, ValueError) as failed:
            self.say(f"not known of {job.job_id}: {failed}")
            return None


def meant(experiment: Experiment, found: Mapping[str, float]) -> dict[str, float]:
    """Returns the measures that have a meaning for the experiment's workload and system."""
    workload = WORKLOADS[experiment.workload]
    left_out = set(_OF_LUSTRE if experiment.in_hdfs else ())
    left_out |= set(() if workload.has_splits else _OF_SPLITS)
    kept = {name: value for name, value in found.items() if name not in left_out}
    if workload.has_input:
        kept["throughput_bytes_per_second"] = experiment.size_bytes / found["job_seconds"]
    return kept


_NEAR = {"local": "data_local_maps", "partner": "rack_local_maps"}


def localities(rows: Iterable[Mapping[str, object]]) -> dict[str, HostLocality]:
    """Returns host -> locality of its maps, from the rows of `vas job locality`.

    A pair of servers is a rack. Maps whose split is not known are left out.
    """
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        if not isinstance(row["length"], int) or not isinstance(row["local_bytes"], int):
            continue
        host = found.setdefault(str(row["ran_on"]), dict.fromkeys(HostLocality.model_fields, 0))
        host[_NEAR.get(str(row["where"]), "other_maps")] += 1
        host["input_bytes"] += row["length"]
        host["local_input_bytes"] += row["local_bytes"]
    return {name: HostLocality(**found[name]) for name in sorted(found)}


class PlannedSite(RunSite):
    """A site where all experiments of one plan run: a lab, or a site that is there already."""

    def __init__(self, plan: BenchPlan, say: Callable[[str], None]) -> None:
        self._plan, self._say, self._root = plan, say, Root()
        self._tez_jars: tuple[Path, ...] = ()

    @property
    def plan(self) -> BenchPlan:
        """The plan; a site that is there already has put its hosts and lock mode into it."""
        return self._plan

    @property
    @abstractmethod
    def learned(self) -> Path:
        """The file that keeps how long runs take here."""

    @property
    @abstractmethod
    def jobs(self) -> Jobs:
        """The jobs of the site that is up."""

    @abstractmethod
    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises VasError for experiments that cannot run here; fetches Tez if one needs it."""

    @abstractmethod
    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        """Returns an experiment with its configuration and versions."""

    @abstractmethod
    def arm(self, experiment: Experiment) -> Arm:
        """Returns the arm that an experiment runs as, on the site that is up."""

    def prepare(self, experiment: Experiment) -> None:
        """Makes the input and, where outputs must equal stock's, the checksum of stock's."""
        self.jobs.prepare(experiment)

    def validate(self, experiment: Experiment) -> OutputCheck:
        """Checks the output and removes it."""
        return self.jobs.validate(experiment, self.arm(experiment))

    def details(self, experiment: Experiment) -> Details:
        """Returns phases and locality of the last run."""
        return self.jobs.details(experiment)

    def _fetch_tez(self, experiments: Iterable[Experiment]) -> None:
        if any(each.system == "tez" for each in experiments):
            self._tez_jars = fetch_tez(self._say)


def versions_for(experiment: Experiment, versions: Mapping[str, str]) -> dict[str, str]:
    """Returns a place's versions, with Tez's if the experiment runs on it."""
    return {**versions, **({"tez": tez_version()} if experiment.system == "tez" else {})}
