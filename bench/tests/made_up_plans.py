"""Every command that plays rounds, each on a site whose runs are made up."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_up_site import Recorded

from vas_bench.engine.observe import Observation
from vas_bench.fetch.place import observed as observed_fetch
from vas_bench.fetch.request import FetchAnswer, FetchCounts
from vas_bench.fetch.subjects import ARMS, FetchSubject
from vas_bench.interference.rounds import observed as observed_beside
from vas_bench.interference.scope import ALONE, LAB, PATTERN_NAMES
from vas_bench.interference.target import InterferenceRequest
from vas_bench.pairs.places import PairPlaces
from vas_bench.results.record import BenchRun, Validation
from vas_bench.results.store import content_of
from vas_bench.run.experiments import Experiment
from vas_bench.spark.command import goals as spark_goals
from vas_bench.spark.subjects import SORT, SparkSubject
from vas_core.cli import run_command
from vas_core.progress import Steps
from vas_core.root import Root

WATCHED = {
    "peak_memory_bytes/tasks and daemons": 10.0,
    "open_connections/daemons": 12.0,
    "open_connections/stock": 20.0,
    "shuffle_threads": 5.0,
}


class Watched(Recorded):
    """A made-up site on which memory, connections and threads are seen too."""

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        return {**super().run(experiment), **WATCHED}


@dataclass
class MadeUpPlan:
    """A command with a whole session's options, and the site that notes its runs.

    `flags` are the options that name the file of results, in a first session and in a further one.
    `again` is how many valid runs are made again after one that failed or was interrupted.
    """

    site: Recorded
    file: Path
    words: list[str]
    runs: int
    flags: tuple[tuple[str, ...], tuple[str, ...]] = (("--resume",), ("--resume",))
    again: int = 0
    after: list[str] = field(default_factory=list)

    def play(self, *words: str, further: bool = False) -> int:
        """Runs the command; returns its exit status."""
        *others, named = self.flags[further]
        return run_command([*self.words, *others, named, str(self.file), *words, *self.after])

    def kept(self) -> tuple[BenchRun, ...]:
        """Returns the runs of its file."""
        return content_of(self.file).runs


OF_A_FILE = (("--out",), ("--resume", "--out"))
Make = Callable[[Recorded, Path, pytest.MonkeyPatch], MadeUpPlan]


def run(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    patch.setattr("vas_bench.run.command.planned_site", site.opened)
    plan = directory / "p.yaml"
    plan.write_text("{name: p, workloads: wordcount, systems: [yarn-lustre, vas], rounds: 1}")
    return MadeUpPlan(site, directory / "r.jsonl", ["bench", "run", str(plan)], 4, OF_A_FILE)


def arms(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    patch.setattr("vas_bench.run.conduct.planned_site", site.opened)
    patch.setattr("vas_bench.arms.command.build_of_plugins", lambda: "build")
    words = ["bench", "arms", "--arm", "VAS", "--hosts", "2", "--size", "64M", "--rounds", "2"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 4)


def shuffle(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    patch.setattr("vas_bench.run.conduct.planned_site", site.opened)
    patch.setattr("vas_bench.shuffle.command.build_of_plugins", lambda: "build")
    words = ["bench", "shuffle", "--without-tez", "--rows", "terasort", "--rounds", "2"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 4)


def jbs(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    watched = Watched()
    patch.setattr("vas_bench.run.conduct.planned_site", watched.opened)
    patch.setattr("vas_bench.jbs.command.build_of_plugins", lambda: "build")
    patch.setattr("vas_bench.jbs.command.find_shuffled", lambda: Path(__file__))
    words = ["bench", "jbs", "--rows", "one-map", "--rounds", "2"]
    return MadeUpPlan(watched, directory / "r.jsonl", words, 4)


def tune(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    """A baseline that runs once to warm up, two candidates, and one of them in six rounds."""
    patch.setattr("vas_bench.tune.command.planned_site", site.opened)
    plan = directory / "p.yaml"
    sweep = {"sort_buffer": ["32M", "64M"]}
    searched = {"name": "p", "sweep": sweep, "confirm": {"finalists": 1, "rounds": 6}}
    plan.write_text(json.dumps(searched))
    words = ["bench", "tune", str(plan), "--profile", str(directory / "p.xml")]
    return MadeUpPlan(site, directory / "r.jsonl", words, 1 + 2 + 2 * 6, OF_A_FILE)


class Phases:
    """The five phases of an HSph-like run, which take no time; the sort is the site's run."""

    checksum, cpu_seconds = "abc", 1.0

    def __init__(self, site: Recorded) -> None:
        self._site = site

    def clean(self) -> None: ...

    def play(self, phase: str) -> None:
        if phase == "sort":
            self._site.begin("vas")


def hsph(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    """Nothing may change between the two runs of a result: both are made again."""
    patch.setattr("vas_bench.hsph.command.planned_site", site.opened)
    patch.setattr("vas_bench.hsph.session.Root", lambda: Root(directory))
    patch.setattr("vas_bench.hsph.session._work", lambda *_: Phases(site))
    return MadeUpPlan(site, directory / "r.jsonl", ["bench", "hsph"], 2, OF_A_FILE, again=1)


def interference(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    request = InterferenceRequest(seconds=5, size=1 << 20, system="vas")

    @contextmanager
    def opened(_: object) -> Iterator[None]:
        yield

    def play(_: object, round_: Any, **__: object) -> Observation:
        arm = round_.experiment.arm
        site.begin(arm)
        return observed_beside(dict.fromkeys(PATTERN_NAMES, 10.0), [3.0] * (arm != ALONE))

    target = SimpleNamespace(
        request=request,
        scope=LAB,
        check=lambda: None,
        settings=lambda: {"hosts": 2},
        environment=site.environment,
        words=lambda: "a made-up host",
        facts=dict,
        steps=list,
        progress=lambda steps: Steps.show(steps, directory / "seconds.json"),
        opened=opened,
    )
    patch.setattr("vas_bench.interference.command._target", lambda *_: target)
    patch.setattr("vas_bench.interference.rounds.play", play)
    words = ["bench", "interference", "--rounds", "2", "--warm-up", "0"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 6)


def fetch(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    counts = FetchCounts.model_validate(dict.fromkeys(FetchCounts.model_fields, 1))

    def play(subject: FetchSubject) -> Observation:
        site.begin(subject.system)
        return observed_fetch(FetchAnswer(fresh=counts, again=counts), 1 << 20)

    @contextmanager
    def opened(_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(play=play)

    patch.setattr("vas_bench.fetch.command.FetchPlace", SimpleNamespace(open=opened))
    patch.setattr("vas_bench.fetch.command.check_machine", lambda: None)
    patch.setattr("vas_bench.fetch.command.versions", lambda _: {"vas": "1"})
    patch.setattr("vas_bench.fetch.command.environment", lambda _: site.environment())
    words = ["bench", "fetch", "--size", "1M", "--clients", "1", "--rounds", "2"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 2 * len(ARMS))


def spark(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    measures = {goal.measure: 2.0 for goal in spark_goals()[SORT]}

    def play(subject: SparkSubject) -> Observation:
        site.begin(subject.system)
        return Observation(measures, validation=Validation(ok=True, checksum="abc"))

    @contextmanager
    def opened(_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(play=play)

    patch.setattr("vas_bench.spark.command.SparkPlace", SimpleNamespace(open=opened))
    patch.setattr("vas_bench.spark.command.install_spark", lambda _: None)
    patch.setattr("vas_bench.spark.command.small", lambda _: {})
    patch.setattr("vas_bench.spark.command.versions", lambda: {"spark": "4"})
    patch.setattr("vas_bench.spark.command.environment", lambda _: site.environment())
    words = ["bench", "spark", "--size", "1M", "--workload", SORT, "--rounds", "2"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 4)


def experiment(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    """Two arms: the directory has no /dev, so nothing can be tuned."""

    def observe(_: object, __: object, arm: Any) -> Observation:
        site.begin(arm.name)
        names = ("work_rate", "wall_seconds", "others_cpus", "stolen_cpus")
        return Observation(dict.fromkeys(names, 1.0 + len(site.ran)))

    patch.setattr("vas_bench.pinning.command._ROOT", Root(directory))
    patch.setattr("vas_bench.pinning.command.observe", observe)
    words = ["affinity", "experiment", "--runs", "3", "--seconds", "5"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 6, after=["--", sys.executable])


def pairs(site: Recorded, directory: Path, patch: pytest.MonkeyPatch) -> MadeUpPlan:
    """Two pairs, whatever the machine has."""

    def observe(_: object, pair: PairPlaces) -> Observation:
        site.begin(pair.name)
        names = ("work_rate", "wall_seconds", "others_cpus", "stolen_cpus")
        return Observation(dict.fromkeys(names, 1.0 + len(site.ran)))

    places = [PairPlaces("unpinned"), PairPlaces("[DS,DS]", (0, 0))]
    patch.setattr("vas_bench.pairs.command._prepared", lambda _: (places, {}, None))
    patch.setattr("vas_bench.pairs.command._ROOT", Root(directory))
    patch.setattr("vas_bench.pairs.command.compile_workload", lambda *_, **__: directory)
    patch.setattr("vas_bench.pairs.command.Uploads", lambda *_: SimpleNamespace(observe=observe))
    words = ["affinity", "pairs", "--runs", "3", "--seconds", "5"]
    return MadeUpPlan(site, directory / "r.jsonl", words, 6)


PLANS: dict[str, Make] = {
    "bench arms": arms,
    "bench fetch": fetch,
    "bench hsph": hsph,
    "bench interference": interference,
    "bench jbs": jbs,
    "bench run": run,
    "bench shuffle": shuffle,
    "bench spark": spark,
    "bench tune": tune,
    "affinity experiment": experiment,
    "affinity pairs": pairs,
}
