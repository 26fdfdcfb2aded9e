"""Runs of one job on several systems, each system held against a base. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from vas_bench.results.record import BenchRun
from vas_bench.results.systems import ComparedSystem
from vas_bench.run.measures import COMPARED
from vas_bench.statistics.ratio import MedianRatio, ratio


@dataclass(frozen=True)
class SystemComparison:
    """Valid runs in the order they were made, and the base; `names` are the systems' for people."""

    runs: tuple[BenchRun, ...]
    base: ComparedSystem
    names: Mapping[ComparedSystem, str]

    def of(self, system: ComparedSystem, measure: str) -> list[float]:
        """Returns a system's values of a measure, in order of rounds."""
        mine = sorted((r for r in self.runs if r.system == system), key=lambda r: r.round or 0)
        return [run.measures[measure] for run in mine]

    @property
    def systems(self) -> list[ComparedSystem]:
        """The systems that ran, the base first, the others by their names."""
        ran = {run.system for run in self.runs}
        return sorted(ran, key=lambda it: (it != self.base, self.names[it]))

    def ratio(self, system: ComparedSystem, measure: str) -> MedianRatio:
        """Returns a system's median over the base's: below 1 it took less time, or less CPU.

        Raises BadInput if either has no sample, or the base's median is zero.
        """
        return ratio(self.of(system, measure), self.of(self.base, measure))

    def as_json(self) -> dict[str, Any]:
        """Returns what `vas bench arms --json` prints."""
        times = ("job_seconds", "cpu_seconds", "task_cpu_seconds")
        others = [system for system in self.systems if system != self.base]
        return {
            "base": self.names[self.base],
            "samples": [self._sample(run) for run in self.runs],
            "ratios": [
                {"arm": self.names[it], "measure": m, **asdict(self.ratio(it, m))}
                for it in others
                for m in times
            ],
        }

    def _sample(self, run: BenchRun) -> dict[str, Any]:
        """A run; rounds and the places in them count from 0 there."""
        beside = [other for other in self.runs if other.round == run.round]
        return {
            "arm": self.names[run.system],
            "round": (run.round or 1) - 1,
            "position": beside.index(run),
            "total_maps": int(run.measures["total_maps"]),
            "checksum": run.validation.checksum if run.validation else "",
            "measures": {name: run.measures[name] for name in COMPARED},
        }

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yields for each system its runs, its medians, and its times against the base's."""
        for it in self.systems:
            maps, local = (int(sum(self.of(it, m))) for m in ("total_maps", "data_local_maps"))
            medians = (f"{median(self.of(it, m)):.1f}" for m in ("job_seconds", "cpu_seconds"))
            against = ("base", "") if it == self.base else self._against(it)
            yield (self.names[it], f"{local} of {maps}", *medians, *against)

    def _against(self, system: ComparedSystem) -> tuple[str, str]:
        job, cpu = (self.ratio(system, m).in_words for m in ("job_seconds", "cpu_seconds"))
        return job, cpu
