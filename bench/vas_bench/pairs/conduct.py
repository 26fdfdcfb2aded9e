"""Runs two uploads at a pair of places, and compares the pairs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.engine.rounds import ArmSubject, RunIdentity
from vas_bench.pairs.places import SAME, PairPlaces
from vas_bench.pinning.conduct import measured
from vas_bench.pinning.design import FEWEST_RUNS, PinningAnswer, contrast, corrected
from vas_bench.pinning.workload import Worked, last_number
from vas_bench.results.measures import PAIRS
from vas_bench.results.record import BenchRun, Parameter
from vas_bench.results.systems import DiskPair
from vas_bench.run.counters import read_device
from vas_bench.statistics.summary import Summary, summary
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.root import Root

METRIC = "MiB/s"
PairSubject = ArmSubject[PairPlaces]


@dataclass(frozen=True)
class Uploads:
    """The program `upload.c`, the directory that it writes into, and its work for each byte.

    `interrupt` is the number of the disk's interrupt, None where the user named a CPU.
    """

    program: Path
    directory: Path
    seconds: float
    checksums: int
    interrupt: int | None

    def observe(self, root: Root, pair: PairPlaces) -> Observation:
        """Runs two uploads once.

        Raises VasError if the program fails, or if the disk got no request or its interrupt moved
        meanwhile.
        """
        before, requests = self._handled(root), read_device(root, self.directory)
        with tempfile.TemporaryDirectory(prefix="vas-pairs-", dir=self.directory) as place:
            argv = [str(self.program), place, str(self.seconds), str(self.checksums)]
            if pair.cpus:
                argv.append(",".join(map(str, pair.cpus)))
            found = measured(root, lambda: Worked(last_number(argv, run(argv).stdout)))
        if self._handled(root) != before:
            raise VasError("the disk's interrupt moved to another CPU", hint="stop irqbalance")
        after = read_device(root, self.directory)
        more = {name: float(after[name] - requests[name]) for name in after}
        if after and not more["device_written_bytes"]:
            raise VasError("nothing was written to the disk", where=str(self.directory))
        return replace(found, measures={**found.measures, **more})

    def _handled(self, root: Root) -> str | None:
        number = self.interrupt
        return None if number is None else root.read(f"proc/irq/{number}/effective_affinity_list")


def identity(pair: PairPlaces, settings: dict[str, Any]) -> RunIdentity[PairSubject]:
    """Returns a pair with the settings that it runs with."""
    parameters: dict[str, Parameter] = {
        "metric": METRIC,
        "cpus": ",".join(map(str, pair.cpus)) or "any",
    }
    subject = ArmSubject(arm=pair, system=pair.name, workload=PAIRS, parameters=parameters)
    return RunIdentity(subject, settings, {})


@dataclass(frozen=True)
class PairTable:
    """The runs of all pairs; `names` has the pairs in the order in which they are shown."""

    names: Sequence[DiskPair]
    runs: Sequence[BenchRun]

    @property
    def values(self) -> dict[str, list[float]]:
        """Returns pair -> MiB/s of its runs; without pairs that have none."""
        found = {
            name: [one.measures["work_rate"] for one in self.runs if one.system == name]
            for name in self.names
        }
        return {name: values for name, values in found.items() if values}

    @property
    def others_cpus(self) -> float:
        """Returns the mean number of CPUs that other processes used during the runs."""
        return sum(one.measures["others_cpus"] for one in self.runs) / len(self.runs)

    def summaries(self) -> dict[str, Summary]:
        """Returns pair -> the summary of its values (mean, spread)."""
        return {name: summary(values) for name, values in self.values.items()}

    def answers(self) -> list[PinningAnswer]:
        """Returns each pair against both threads on one CPU; none for fewer than three runs."""
        values = {name: each for name, each in self.values.items() if len(each) >= FEWEST_RUNS}
        if SAME not in values:
            return []
        base = sum(values[SAME]) / len(values[SAME])
        others = [name for name in values if name != SAME]
        weights: list[tuple[str, dict[str, float]]] = [(n, {n: 1, SAME: -1}) for n in others]
        return corrected([contrast(f"{n} against {SAME}", values, w, base) for n, w in weights])

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
