"""The report of an acceptance: facts of the client, then every check, as JSON and as one page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from vas_accept.checks.locks import mounted
from vas_accept.outcome import AcceptanceResult, AcceptanceStatus
from vas_accept.place import AcceptancePlace
from vas_core.checklist import ChecklistPage, ChecklistRow, Tone
from vas_core.distribution import own_version

_TONES: dict[AcceptanceStatus, Tone] = {
    AcceptanceStatus.PASSED: "good",
    AcceptanceStatus.FAILED: "bad",
    AcceptanceStatus.NOT_APPLICABLE: "open",
    # It comes first, with what failed: nothing is accepted without it.
    AcceptanceStatus.NOT_FINISHED: "bad",
}


_LABELS = {
    "time": "time",
    "mount": "mount",
    "fsname": "file system",
    "osts": "active OSTs",
    "lustre": "Lustre",
    "kernel": "kernel",
    "mode": "locks",
    "vas": "VAS",
}


@dataclass(frozen=True, kw_only=True)
class AcceptanceFacts:
    """The time and place of the checks. A field is None if the client does not tell it."""

    time: str
    mount: str
    fsname: str
    osts: int
    lustre: str | None
    kernel: str
    mode: str | None
    vas: str

    @classmethod
    def of(cls, place: AcceptancePlace) -> AcceptanceFacts:
        """Reads mount, OSTs, Lustre's version, kernel and lock mode from the client."""
        modes = [m.mode.value for m in mounted(place) if m.point == place.mount]
        return cls(
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            mount=str(place.mount),
            fsname=place.fsname,
            osts=len(place.osts),
            lustre=place.root.read("sys/fs/lustre/version"),
            kernel=os.uname().release,
            mode=modes[0] if modes else None,
            vas=own_version(),
        )


@dataclass(frozen=True)
class AcceptanceReport:
    """All results, in the order in which they came."""

    facts: AcceptanceFacts
    results: Sequence[AcceptanceResult]
    left_out: int = 0
    """Number of checks that were not chosen: an acceptance has none."""

    @property
    def failed(self) -> list[AcceptanceResult]:
        """The results of checks that failed."""
        return [it for it in self.results if it.status is AcceptanceStatus.FAILED]

    @property
    def unfinished(self) -> list[AcceptanceResult]:
        """The results of checks that the time was not enough for."""
        return [it for it in self.results if it.status is AcceptanceStatus.NOT_FINISHED]

    @property
    def verdict(self) -> str:
        """The report's heading: `checks failed`, `not finished` or `accepted`; or how many checks
        were made, where not all were chosen."""
        if self.failed:
            return "checks failed"
        if self.unfinished:
            return "not finished"
        if self.left_out:
            made = len({result.check for result in self.results})
            return f"{made} of {made + self.left_out} checks made: no acceptance"
        return "accepted"

    def complaint(self) -> str | None:
        """Returns the names of the checks that failed and were not finished, None without any."""
        kinds = (("failed", self.failed), ("not finished", self.unfinished))
        told = [
            f"{kind}: {', '.join(dict.fromkeys(result.check for result in results))}"
            for kind, results in kinds
            if results
        ]
        return "; ".join(told) or None

    def counts(self) -> dict[str, int]:
        """Returns the number of results of each status."""
        found = Counter(result.status for result in self.results)
        return {status.value: found[status] for status in AcceptanceStatus}

    def as_json(self) -> dict[str, Any]:
        """Returns `{"facts", "ok", "counts", "left_out", "checks"}`, as `vas accept --json` prints
        it."""
        return {
            "facts": asdict(self.facts),
            "ok": self.complaint() is None,
            "counts": self.counts(),
            "left_out": self.left_out,
            "checks": [result.as_json() for result in self.results],
        }

    def html(self) -> str:
        """Returns the report as one self-contained HTML page; failed checks come first."""
        facts = {_LABELS[name]: str(value) for name, value in asdict(self.facts).items() if value}
        page = ChecklistPage(
            title=f"VAS: acceptance of {self.facts.fsname}",
            heading=f"{self.facts.fsname}: {self.verdict}",
            about=facts.pop(_LABELS["time"]),
            counts=tuple(self.counts().items()),
            columns=("check", "as"),
            rows=tuple(map(_row, self.results)),
            facts=tuple(facts.items()),
        )
        return page.html()


def _row(result: AcceptanceResult) -> ChecklistRow:
    cells = (f"{result.title} ({result.check})", result.user)
    return ChecklistRow(cells, result.status.value, _TONES[result.status], result.lines())
