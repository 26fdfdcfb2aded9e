"""Answers of `lctl` and of `vas job locality`, as a real system printed or would print them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from vas_accept.checks import space
from vas_accept.checks.java import compare_layouts
from vas_accept.checks.jobs import judge_locality, leftovers
from vas_accept.checks.layouts import differences
from vas_accept.checks.locks import mounted
from vas_accept.commands import accept
from vas_accept.outcome import Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_accept.run import PREFIX
from vas_accept.statistics import reads_by_ost, requests_sent
from vas_cluster import Flock
from vas_core.process import Completed
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_core.sizes import format_size

OSC = """\
osc.testfs-OST0000-osc-ff35e01fe8bb4000.stats=
snapshot_time             1795181711.123456789 secs.nsecs
start_time                1795180000.000000000 secs.nsecs
req_waittime              38 samples [usecs] 95 3400 20000 30000000
ost_read                  7 samples [usecs] 120 900 2100 900000
read_bytes                7 samples [bytes] 4096 1048576 2555904 1100000000000
ldlm_glimpse_enqueue      3 samples [reqs] 1 1 3 3
ost_sync                  10 samples [usecs] 95 3400 20000 30000000
osc.testfs-OST000a-osc-ff35e01fe8bb4000.stats=
ldlm_extent_enqueue       2 samples [reqs] 1 1 2 2
osc.testfs-OST0000-osc-MDT0000.stats=
ost_read                  99 samples [usecs] 1 1 99 99
"""
MDC = """\
mdc.testfs-MDT0000-mdc-ff35e01fe8bb4000.stats=
mds_close                 5 samples [usecs] 95 3400 20000 30000000
ldlm_ibits_enqueue        11 samples [reqs] 1 1 11 11
"""


@dataclass(frozen=True, kw_only=True)
class Told(AcceptancePlace):
    """A place where `lctl` prints what a test says."""

    answers: dict[str, str]

    @cached_property
    def instance(self) -> str:
        return "*"

    def run(self, argv: Any, *, check: bool = True, seconds: float | None = None) -> Completed:
        words = tuple(map(str, argv))
        if words[:2] == ("lfs", "osts"):
            return Completed(words, 0, "OBDS:\n0: testfs-OST0000_UUID ACTIVE\n", "")
        text = self.answers.get(words[2].partition(".")[0], "")
        return Completed(words, 0 if text else 2, text, "" if text else "error: no such\n")


def place(**answers: str) -> Told:
    return Told(directory=Path("/lustre/own"), answers=answers)


def test_requests_are_the_clients_own() -> None:
    sent = requests_sent(place(osc=OSC, mdc=MDC))
    assert (sent["ost_sync"], sent["ost_glimpse"], sent["ost_enqueue"]) == (10, 3, 2)
    assert (sent["mds_close"], sent["mdt_enqueue"], sent["ost_read"]) == (5, 11, 7)
    assert "mds_close" not in requests_sent(place(osc=OSC))


def test_an_osts_own_counter_comes_before_the_clients() -> None:
    assert reads_by_ost(place(osc=OSC)) == {0: 7, 10: 0}
    own = "obdfilter.testfs-OST0000.stats=\nread_bytes  70 samples [bytes] 4096 4096 286720 1\n"
    assert reads_by_ost(place(osc=OSC, obdfilter=own)) == {0: 70, 10: 0}


def test_statistics_that_nobody_tells_are_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="tells nothing here: error: no such"):
        requests_sent(place())


def test_a_layout_that_costs_more_than_the_other_is_told() -> None:
    fewer, more = Counter(mds_close=20, ost_sync=8), Counter(mds_close=60, ost_sync=36)
    compare_layouts(fewer, more)
    compare_layouts(None, more)
    with pytest.raises(Deviation, match="no more mds_close than per-reducer, seen 60 against 20"):
        compare_layouts(more, fewer)


def test_layouts_differ_by_what_both_hold() -> None:
    told = {"type": "plain", "stripe_size": 65536, "magic": "v1", "objects": [{"ost_idx": 1}]}
    read = {**told, "magic": "v3", "objects": [{"ost_idx": 2}]}
    assert list(differences(told, read)) == [("objects[0].ost_idx", "1", "2")]
    fewer = {**told, "objects": []}
    assert [where for where, _, _ in differences(told, fewer)] == ["objects"]


def rows(local: int, remote: int, why: str) -> list[dict[str, Any]]:
    here = {"length": 10, "local_bytes": 10, "where": "local", "why": "its own server"}
    there = {"length": 10, "local_bytes": 0, "where": "remote", "why": why}
    return [here] * local + [there] * remote


def test_locality_is_judged_by_bytes_and_told_with_reasons() -> None:
    assert judge_locality(rows(9, 1, "waited 3 s")).startswith("90% of the bytes were local")
    assert "1 map remote: waited 3 s" in judge_locality(rows(9, 1, "waited 3 s"))
    with pytest.raises(Deviation) as found:
        judge_locality(rows(1, 1, "the plugin was off"))
    assert found.value.seen.startswith("50%: ") and "the plugin was off" in found.value.seen
    with pytest.raises(Deviation):
        judge_locality([])


def test_what_a_job_leaves_in_its_staging_directory_is_found(tmp_path: Path) -> None:
    left = tmp_path / "yarn/staging/ann/.staging/job_1_0007"
    left.mkdir(parents=True)
    staging = tmp_path / "yarn/staging"
    assert leftovers(staging, "application_1_0007") == [str(left)]
    assert leftovers(staging, "application_1_0008") == []


def test_a_mount_without_a_word_is_an_older_client_without_locks(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    line = "192.0.2.1@tcp:/scratch /lustre lustre rw,lazystatfs 0 0\n"
    (tmp_path / "proc/self/mounts").write_text(line)
    place = AcceptancePlace(directory=tmp_path, root=Root(tmp_path))
    assert [mount.mode for mount in mounted(place)] == [Flock.NOFLOCK]


def test_the_page_tells_every_place_that_is_written_to_and_the_most() -> None:
    page = (REPOSITORY / "docs/accept.md").read_text()
    told = page.partition("## What it does to your file system")[2].partition("\n## ")[0]
    for word in (PREFIX, "--quota-dir", "--jobs", "$TMPDIR", format_size(space.MOST_BYTES)):
        assert word in told
    assert "1 GiB at most" not in told and "at most 1 GiB" not in str(accept.help)
