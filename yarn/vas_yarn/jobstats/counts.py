"""Reads the text of a target's `job_stats`, and chooses the busiest applications. Pure.

A client names its job as it likes, so all of that text is a stranger's: names that are not those of
applications are counted and not kept. A sum over several jobs is never made. Lustre forgets a job
after a while, and a sum that falls would look to Prometheus like new bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

MOST_APPLICATIONS = 100
"""The most applications of a server that are published at a time."""
# lprocfs_jobstats.c of Lustre: `- job_id:          NAME`. Up to early 2.15 a name may hold blanks;
# since then a name of other letters than those of an application is in quotation marks.
_JOB = re.compile(rb"- job_id: +(.*)")
# What the roles' NodeManager calls an application (VAS_JOBID): the start of the ResourceManager
# in milliseconds, and a number.
_APPLICATION = re.compile(rb"app_([0-9]{1,19}_[0-9]{1,10})")
# `  read_bytes:      { samples: 2, unit: bytes, min: 8, max: 9, sum: 17, sumsq: 145, hist: { ...`
_COUNTER = re.compile(
    rb"  (?P<name>[a-z_]{1,40}): +\{ samples: +(?P<samples>[0-9]{1,20})\b"
    rb"(?:[^{}]*? sum: +(?P<sum>[0-9]{1,20})\b)?"
)
# The same requests as read_bytes and write_bytes count, with their durations.
_DURATIONS = frozenset({b"read", b"write"})


class OmissionReason(StrEnum):
    """Reason for which a job, or a part or all of a target's list, is not published."""

    OTHER_NAME = "other-name"
    NOT_BUSIEST = "not-busiest"
    DAMAGED = "damaged"
    CUT = "cut"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class ApplicationIo:
    """Bytes and requests of one application at one target, since the target knows it."""

    jobid: str
    target: str
    read_bytes: int
    write_bytes: int
    reads: int
    writes: int
    others: int

    @property
    def application(self) -> str:
        """Returns the id by which YARN's commands know the application."""
        return f"application_{self.jobid.removeprefix('app_')}"

    @property
    def requests(self) -> int:
        """Returns the number of requests of all kinds."""
        return self.reads + self.writes + self.others

    def as_json(self) -> dict[str, object]:
        """Returns the row as `vas job io --json` prints it."""
        return {"application": self.application, **asdict(self)}


@dataclass(frozen=True)
class TargetIo:
    """The applications that a target of Lustre (an OST or MDT) knows, and what is left out."""

    target: str
    rows: tuple[ApplicationIo, ...] = ()
    left_out: Counter[OmissionReason] = field(default_factory=Counter)


def parse(target: str, text: bytes, *, is_cut: bool = False) -> TargetIo:
    """Returns the applications in the text of a target's `job_stats`.

    `is_cut`: the text ends somewhere in the list, so that its last job is not whole.
    """
    rows: dict[bytes, ApplicationIo] = {}
    left_out: Counter[OmissionReason] = Counter()
    jobs = _jobs(text)
    if is_cut:
        left_out[OmissionReason.CUT] = 1
        jobs = jobs[:-1]
    for name, counters in jobs:
        row = _row(target, name, counters)
        if not _APPLICATION.fullmatch(name):
            left_out[OmissionReason.OTHER_NAME] += 1
        elif row is None or name in rows:
            left_out[OmissionReason.DAMAGED] += 1
        else:
            rows[name] = row
    return TargetIo(target, tuple(rows.values()), left_out)


def _jobs(text: bytes) -> list[tuple[bytes, list[re.Match[bytes]]]]:
    """Returns the name and the counters of each job, in the order of the text."""
    found: list[tuple[bytes, list[re.Match[bytes]]]] = []
    # Not splitlines: a name may hold letters at which it would split.
    for line in text.split(b"\n"):
        if job := _JOB.fullmatch(line):
            found.append((job[1], []))
        elif found and (counter := _COUNTER.match(line)):
            found[-1][1].append(counter)
    return found


def _row(target: str, name: bytes, counters: Iterable[re.Match[bytes]]) -> ApplicationIo | None:
    """The counters of a job; None for one without any, or with bytes that have no sum."""
    samples, sums = {}, {}
    for each in counters:
        samples[each["name"]], sums[each["name"]] = int(each["samples"]), int(each["sum"] or -1)
    read, written = (sums.get(kind, 0) for kind in (b"read_bytes", b"write_bytes"))
    if not samples or read < 0 or written < 0:
        return None
    return ApplicationIo(
        jobid=name.decode("ascii", "replace"),
        target=target,
        read_bytes=read,
        write_bytes=written,
        reads=samples.pop(b"read_bytes", 0),
        writes=samples.pop(b"write_bytes", 0),
        others=sum(count for kind, count in samples.items() if kind not in _DURATIONS),
    )


def busiest(targets: Iterable[TargetIo], most: int = MOST_APPLICATIONS) -> list[TargetIo]:
    """Returns the targets with the server's busiest applications alone, the rest counted.

    The busiest moved the most bytes, or had the most requests where that is equal.
    """
    found = list(targets)
    total: Counter[str] = Counter()
    requests: Counter[str] = Counter()
    for row in (row for target in found for row in target.rows):
        total[row.jobid] += row.read_bytes + row.write_bytes
        requests[row.jobid] += row.requests
    order = sorted(total, key=lambda jobid: (total[jobid], requests[jobid], jobid), reverse=True)
    kept = frozenset(order[:most])
    return [_only(target, kept) for target in found]


def _only(target: TargetIo, kept: frozenset[str]) -> TargetIo:
    rows = tuple(row for row in target.rows if row.jobid in kept)
    dropped = len(target.rows) - len(rows)
    left_out = target.left_out + Counter({OmissionReason.NOT_BUSIEST: dropped})
    return replace(target, rows=rows, left_out=left_out)
