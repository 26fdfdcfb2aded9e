"""Runs two uploads at a pair of places, and compares the pairs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.engine.rounds import ArmSubject, RunIdentity
from vas_bench.pairs.places import SAME, ThreadPair
from vas_bench.pinning.conduct import measured
from vas_bench.pinning.design import FEWEST_RUNS, PinningAnswer, contrast, corrected
from vas_bench.pinning.workload import last_number
from vas_bench.results.measures import PAIRS
from vas_bench.results.record import BenchRun, Parameter
from vas_bench.statistics.summary import Summary, summary
from vas_core.process import run
from vas_core.root import Root

METRIC = "MiB/s"
PairSubject = ArmSubject[ThreadPair]


@dataclass(frozen=True)
class Uploads:
    """The program `upload.c`, and the directory that it writes into."""

    program: Path
    directory: Path
    seconds: float

    def observe(self, root: Root, pair: ThreadPair) -> Observation:
        """Runs two uploads once. Raises VasError if the program fails."""
        with tempfile.TemporaryDirectory(prefix="vas-pairs-", dir=self.directory) as place:
            argv = [str(self.program), place, str(self.seconds)]
            if pair.cpus:
                argv.append(",".join(map(str, pair.cpus)))
            return measured(root, lambda: last_number(argv, run(argv).stdout))


def identity(pair: ThreadPair, settings: dict[str, Any]) -> RunIdentity[PairSubject]:
    """Returns a pair with the settings that it runs with."""
    parameters: dict[str, Parameter] = {
        "metric": METRIC,
        "cpus": ",".join(map(str, pair.cpus)) or "any",
    }
    subject = ArmSubject(arm=pair, system=pair.name, workload=PAIRS, parameters=parameters)
    return RunIdentity(subject, settings, {})


@dataclass(frozen=True)
class PairTable:
    """The runs of all pairs."""

    runs: Sequence[BenchRun]

    @property
    def values(self) -> dict[str, list[float]]:
        """Returns pair -> MiB/s of its runs, in the order of the first round."""
        found: dict[str, list[float]] = {}
        for one in self.runs:
            found.setdefault(one.system, []).append(one.measures["work_rate"])
        return dict(sorted(found.items(), reverse=True))

    @property
    def others_cpus(self) -> float:
        """Returns the mean number of CPUs that other processes used during the runs."""
        return sum(one.measures["others_cpus"] for one in self.runs) / len(self.runs)

    def summaries(self) -> dict[str, Summary]:
        """Returns pair -> the summary of its values (mean, spread)."""
        return {name: summary(values) for name, values in self.values.items()}

    def answers(self) -> list[PinningAnswer]:
        """Returns each pair against both threads on one CPU; none with fewer than three runs."""
        values = self.values
        if SAME not in values or any(len(each) < FEWEST_RUNS for each in values.values()):
            return []
        base = sum(values[SAME]) / len(values[SAME])
        others = [name for name in values if name != SAME]
        return corrected(
            [
                contrast(f"{name} against {SAME}", values, {name: 1, SAME: -1}, base)
                for name in others
            ]
        )

    def as_json(self, alpha: float) -> dict[str, Any]:
        """Returns the table as `vas affinity pairs --json` prints it."""
        return {
            "metric": METRIC,
            "others_cpus_mean": round(self.others_cpus, 3),
            "pairs": {
                name: {"n": one.n, "mean": one.mean, "sd": one.sd}
                for name, one in self.summaries().items()
            },
            "tests": [{**vars(t), "significant": t.significant(alpha)} for t in self.answers()],
            "runs": [
                {"pair": r.system, "mib_per_second": r.measures["work_rate"]} for r in self.runs
            ],
        }
