"""The comparisons of a measured claim: its workloads and parameters, one by one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from vas_bench.report.words import parameter_words
from vas_bench.reproduction.claims import MeasuredClaim
from vas_bench.results.groups import BenchCase
from vas_core.sizes import parse_size

_SIZES = ("size", "split")

Parameters = Mapping[str, int | str]
"""Parameters as lines of results name them, sizes in bytes."""


@dataclass(frozen=True)
class ComparedCase:
    """One comparison: the workload, and the parameters of the system's and of the base's runs."""

    workload: str
    own: Parameters
    other: Parameters

    def words(self, *, with_workload: bool) -> str:
        """Returns `size 256 MiB`, `split 128 MiB / 32 MiB`, or `grep, size 256 MiB`."""
        texts = [self.workload] if with_workload else []
        for name, value in self.own.items():
            text, base = parameter_words(name, value), self.other[name]
            if base != value:
                text += f" / {parameter_words(name, base).partition(' ')[2]}"
            texts.append(text)
        return ", ".join(texts)

    def has(self, case: BenchCase, parameters: Parameters) -> bool:
        """Returns whether runs of a case have the workload and these parameters."""
        return (
            case.workload == self.workload and parameters.items() <= dict(case.parameters).items()
        )


def cases_of(claim: MeasuredClaim) -> Iterator[ComparedCase]:
    """Yields each comparison of a claim. Raises BadInput for a size that is none."""
    for workload in claim.workload:
        for own in _combined(claim.parameters):
            for other in _combined(claim.against):
                yield ComparedCase(workload, own, {**own, **other})


def _combined(lists: Mapping[str, Sequence[int | str]]) -> Iterator[Parameters]:
    named = {f"{name}_bytes" if name in _SIZES else name: name for name in lists}
    for values in product(*lists.values()):
        pairs = zip(named.items(), values, strict=True)
        yield {
            to: parse_size(str(value)) if name in _SIZES else value for (to, name), value in pairs
        }
