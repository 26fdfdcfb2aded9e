"""Reads, by `lctl get_param`, how many requests this client sent, or an OST received."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from vas_accept.outcome import NotApplicable
from vas_accept.place import AcceptancePlace

_HEADER = re.compile(r"(\S+)\.stats=")
_SAMPLES = re.compile(r"(\w+)\s+(\d+) samples \[\w+\](?:\s+\d+\s+\d+\s+(\d+))?")
# The client's own imports, not those of a MDT on the same machine.
_IMPORT = re.compile(r"(?:osc|obdfilter)\.\S+-OST([0-9a-f]{4})(?:-osc-(?!MDT)\w+)?")


@dataclass(frozen=True)
class SampledRequests:
    """The number of requests of a kind, and the sum of their bytes or microseconds."""

    count: int
    total: int


def read_statistics(place: AcceptancePlace, pattern: str) -> dict[str, dict[str, SampledRequests]]:
    """Returns parameter -> kind of request -> samples, for `osc.*` or the like.

    Raises NotApplicable if `lctl` is missing or this user may read none.
    """
    done = place.run(["lctl", "get_param", f"{pattern}.stats"], check=False)
    found: dict[str, dict[str, SampledRequests]] = {}
    current: dict[str, SampledRequests] = {}
    for line in done.stdout.splitlines():
        if header := _HEADER.match(line):
            current = found.setdefault(header[1], {})
        elif samples := _SAMPLES.match(line.strip()):
            current[samples[1]] = SampledRequests(int(samples[2]), int(samples[3] or 0))
    if not found:
        said = done.stderr.strip().splitlines()
        why = said[-1] if said else f"status {done.status}"
        raise NotApplicable(f"lctl get_param {pattern}.stats tells nothing here: {why}")
    return found


def reads_by_ost(place: AcceptancePlace) -> dict[int, int]:
    """Returns OST index -> number of reads: as its server counts them, else as this client does.

    Raises NotApplicable if this user may not read the client's counts.
    """
    found: dict[int, int] = {}
    for kind, instance in (("osc", f"-osc-{place.instance}"), ("obdfilter", "")):
        try:
            told = read_statistics(place, f"{kind}.{place.fsname}-OST*{instance}")
        except NotApplicable:
            if kind == "osc":
                raise
            continue
        for name, kinds in told.items():
            match = _IMPORT.fullmatch(name)
            if match:
                found[int(match[1], 16)] = _reads(kinds)
    return found


def _reads(kinds: dict[str, SampledRequests]) -> int:
    none = SampledRequests(0, 0)
    return max(kinds.get("ost_read", none).count, kinds.get("read_bytes", none).count)


def requests_sent(place: AcceptancePlace) -> Counter[str]:
    """Returns kind -> requests of this client to all OSTs (`ost_sync`) and MDTs (`mds_close`).

    Requests for locks are `mdt_enqueue`, `ost_enqueue` and `ost_glimpse`. Requests to MDTs are
    missing if this user may not read their statistics. Raises NotApplicable if the user may not
    read those of OSTs.
    """
    total: Counter[str] = Counter()
    for name, kinds in read_statistics(
        place, f"osc.{place.fsname}-OST*-osc-{place.instance}"
    ).items():
        if not _IMPORT.fullmatch(name):
            continue
        for kind, told in kinds.items():
            total[_OST_NAMES.get(kind, kind)] += told.count
    try:
        of_mdts = read_statistics(place, f"mdc.{place.fsname}-MDT*")
    except NotApplicable:
        return total
    for kinds in of_mdts.values():
        for kind, told in kinds.items():
            total[_MDT_NAMES.get(kind, kind)] += told.count
    return total


_OST_NAMES = {"ldlm_extent_enqueue": "ost_enqueue", "ldlm_glimpse_enqueue": "ost_glimpse"}
_MDT_NAMES = {"ldlm_ibits_enqueue": "mdt_enqueue"}
