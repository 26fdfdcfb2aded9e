"""What a machine counts beside a job, and what a job counts itself."""

from __future__ import annotations

from pathlib import Path

from made_up_jobs import a_job

from vas_bench.results.measures import measure_of
from vas_bench.run.counters import Counters, device_counters, network_counters, page_cache
from vas_bench.run.measures import job_measures
from vas_core.root import Root

# Of a virtual disk, Linux 6.1: 17 fields.
_STAT = (
    "  773884 74637 25572810 1287078 133345 361813 25280192 185165 0 139168 1513311 0 0 0 0 1 1\n"
)


def test_a_device_counts_in_sectors_of_512_bytes() -> None:
    assert device_counters(_STAT) == {
        "device_read_bytes": 25_572_810 * 512,
        "device_written_bytes": 25_280_192 * 512,
        "device_requests": 773_884 + 133_345,
    }


def test_interfaces_of_one_name_count_together() -> None:
    found = network_counters([("vf0", 5, 7), ("vf0", 1, 2)])
    assert found == {"network_received_bytes/vf0": 6, "network_sent_bytes/vf0": 9}


def test_what_came_since_is_of_what_was_there_before() -> None:
    before, after = Counters({"device_requests": 5}), Counters({"device_requests": 9, "new": 3})
    assert after.since(before) == {"device_requests": 4.0}


def test_the_page_cache(tmp_path: Path) -> None:
    assert page_cache(Root(tmp_path)) == {}
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9 kB\nCached:   7 kB\nSwapCached: 3 kB\n")
    assert page_cache(Root(tmp_path)) == {"page_cache_bytes": 7 * 1024}


def test_a_jobs_measures_are_known_ones_and_add_up() -> None:
    of_job = {"DATA_LOCAL_MAPS": 3, "TOTAL_LAUNCHED_MAPS": 4, "TOTAL_LAUNCHED_REDUCES": 2}
    of_job["NUM_FAILED_REDUCES"] = 1
    found = job_measures(
        a_job(
            {
                "org.apache.hadoop.mapreduce.JobCounter": of_job,
                "tasks": {"GC_TIME_MILLIS": 1500, "BYTES_READ": 100},
                "files": {"LUSTRE_READ_OPS": 5, "LUSTRE_WRITE_OPS": 2, "HDFS_LARGE_READ_OPS": 1},
            }
        )
    )
    assert all(measure_of(name) for name in found)
    assert (found["containers_started"], found["gc_seconds"], found["failed_reduces"]) == (
        7,
        1.5,
        1,
    )
    assert found["metadata_operations"] == 8
    assert (found["local_map_share"], found["local_byte_share"]) == (0.75, 0.0)


def test_a_job_without_counters_has_times_alone() -> None:
    assert job_measures(a_job({})) == {"job_seconds": 9, "client_seconds": 10, "cpu_seconds": 12}


def test_a_heap_is_looked_at_by_the_maps_of_one_container() -> None:
    watched = {"LIVE_BYTES_OF_5TH": 100, "LIVE_BYTES_OF_200TH": 101, "CONTAINERS_LAUNCHED": 1}
    found = job_measures(a_job({"any": watched}))
    assert (found["live_heap_bytes/5th"], found["live_heap_bytes/200th"]) == (100, 101)
    found = job_measures(a_job({"any": watched | {"CONTAINERS_LAUNCHED": 2}}))
    assert not any(name.startswith("live_heap_bytes") for name in found)
