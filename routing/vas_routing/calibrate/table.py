"""Prints the result of `vas route calibrate` for people: Table 4.1, measured here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vas_routing.calibrate.paper import TABLE_4_1_GBPS
from vas_routing.calibrate.result import CalibrationVerdict, Measured
from vas_routing.links import Leg

COLUMNS = (
    *("CASE", "FROM", "TO", "BY", "GBIT/S", "+-", "THERE", "BACK"),
    *("VIRTIO/SR-IOV", "PAPER", "PAPER'S RATIO"),
)
LEG_NAMES: Mapping[Leg, str] = {Leg.VIRTIO: "virtio", Leg.SRIOV: "SR-IOV"}


def rows(found: Iterable[CalibrationVerdict]) -> Iterator[tuple[object, ...]]:
    """Yields the six rows of the table; the first of each destination has the ratios, too."""
    for verdict in found:
        ratios = (f"{verdict.ratio:.2f}", f"{verdict.paper_ratio:.2f}")
        yield _row(verdict.virtio, ratios)
        yield _row(verdict.sriov, ("", ""))


def _row(row: Measured, ratios: tuple[str, str]) -> tuple[object, ...]:
    case, json = row.case, row.as_json()
    names = (case.name, case.source, case.destination, LEG_NAMES[case.leg])
    speeds = [f"{json[key]:.3f}" for key in ("gbps", "spread", "there_gbps", "back_gbps")]
    return (*names, *speeds, ratios[0], TABLE_4_1_GBPS[case.kind, case.leg], ratios[1])


def sentence(verdict: CalibrationVerdict) -> str:
    """Returns one line about the faster leg to a destination."""
    taken = LEG_NAMES[verdict.path]
    if verdict.faster is None:
        what = "both legs are equally fast, within the spread"
    elif verdict.ok:
        what = f"{taken} is the faster one"
    else:
        what = f"WRONG: {LEG_NAMES[verdict.faster]} is faster"
    return f"{verdict.destination} ({verdict.kind}): takes {taken}; {what}"
