"""Judges measured speeds: which leg is faster, and whether the switcher takes it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from vas_routing.calibrate.cases import CalibrationCase
from vas_routing.calibrate.paper import TABLE_4_1_GBPS, NodeRelation
from vas_routing.links import Leg
from vas_routing.policy import Choices


@dataclass(frozen=True)
class ThroughputSample:
    """One measurement of a case in both directions, in Gbit/s of payload."""

    there_gbps: float
    back_gbps: float

    @property
    def gbps(self) -> float:
        """The mean of both directions, in Gbit/s."""
        return fmean((self.there_gbps, self.back_gbps))


@dataclass(frozen=True)
class Measured:
    """A case with one or more samples."""

    case: CalibrationCase
    samples: tuple[ThroughputSample, ...]

    @property
    def gbps(self) -> float:
        """The median of the samples, in Gbit/s."""
        return median(sample.gbps for sample in self.samples)

    @property
    def spread(self) -> float:
        """Half the difference between the largest and the smallest sample, in Gbit/s."""
        found = [sample.gbps for sample in self.samples]
        return (max(found) - min(found)) / 2

    def as_json(self) -> dict[str, Any]:
        """Returns a row of `cases`, as `vas route calibrate --json` prints it."""
        return {
            "case": self.case.name,
            "source": self.case.source,
            "destination": self.case.destination,
            "interface": self.case.leg,
            "gbps": round(self.gbps, 4),
            "spread": round(self.spread, 4),
            "there_gbps": round(median(sample.there_gbps for sample in self.samples), 4),
            "back_gbps": round(median(sample.back_gbps for sample in self.samples), 4),
            "runs": len(self.samples),
            "paper_gbps": TABLE_4_1_GBPS[self.case.kind, self.case.leg],
        }


@dataclass(frozen=True)
class CalibrationVerdict:
    """The speeds of a destination by each leg, and the leg that the switcher takes."""

    virtio: Measured
    sriov: Measured
    path: Leg

    @property
    def kind(self) -> NodeRelation:
        """The relation of the destination to the guest."""
        return self.virtio.case.kind

    @property
    def destination(self) -> str:
        """The name of the destination."""
        return self.virtio.case.destination

    @property
    def ratio(self) -> float:
        """The speed by virtio divided by the speed by SR-IOV."""
        return self.virtio.gbps / self.sriov.gbps

    @property
    def paper_ratio(self) -> float:
        """The ratio that Table 4.1 of the paper has for this relation."""
        return TABLE_4_1_GBPS[self.kind, Leg.VIRTIO] / TABLE_4_1_GBPS[self.kind, Leg.SRIOV]

    @property
    def faster(self) -> Leg | None:
        """The faster leg; None where the difference is within both spreads."""
        difference = self.virtio.gbps - self.sriov.gbps
        if abs(difference) <= self.virtio.spread + self.sriov.spread:
            return None
        return Leg.VIRTIO if difference > 0 else Leg.SRIOV

    @property
    def ok(self) -> bool:
        """Tells whether the switcher takes the faster leg, or both are equally fast."""
        return self.faster in (None, self.path)

    def as_json(self) -> dict[str, Any]:
        """Returns a row of `choices`; `faster` is "equal" where neither leg is faster."""
        return {
            "source": self.virtio.case.source,
            "destination": self.destination,
            "path": self.path,
            "faster": self.faster or "equal",
            "ok": self.ok,
            "ratio": round(self.ratio, 3),
            "paper_ratio": round(self.paper_ratio, 3),
        }


def measured(samples: Mapping[CalibrationCase, Sequence[ThroughputSample]]) -> list[Measured]:
    """Returns the cases that have samples, in the order of Table 4.1."""
    order = list(TABLE_4_1_GBPS)
    found = [Measured(case, tuple(of_case)) for case, of_case in samples.items() if of_case]
    return sorted(found, key=lambda row: order.index((row.case.kind, row.case.leg)))


def verdicts(rows: Iterable[Measured], paths: Mapping[str, Leg]) -> list[CalibrationVerdict]:
    """Returns a verdict for each destination; `paths`: destination -> the switcher's leg."""
    by_case = {(row.case.destination, row.case.leg): row for row in rows}
    destinations = dict.fromkeys(destination for destination, _ in by_case)
    return [
        CalibrationVerdict(by_case[to, Leg.VIRTIO], by_case[to, Leg.SRIOV], paths[to])
        for to in destinations
    ]


def chosen(known: Choices, found: Iterable[CalibrationVerdict]) -> Choices:
    """Returns the choices for the policy: the known ones, updated by what was measured on one host.

    Two nodes between which both legs are equally fast get no entry. Then the policy takes virtio,
    which leaves the adapter to others.
    """
    choices = dict(known)
    for verdict in found:
        if verdict.kind is NodeRelation.OWN_HOST:
            pair = frozenset((verdict.virtio.case.source, verdict.destination))
            choices.pop(pair, None)
            if verdict.faster:
                choices[pair] = verdict.faster
    return choices
