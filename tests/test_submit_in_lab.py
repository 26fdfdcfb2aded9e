"""Profiles of jobs on the lab's real YARN: what they switch on, and off."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_tests.in_lab import history, inside, vas
from vas_tests.warm import as_list
from vas_yarn.jobs.job import JobResult
from vas_yarn.profiles import SHUFFLE, profile_properties

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROBE = str(REPOSITORY / "yarn-plugins" / "workloads" / "target" / "vas-workloads-0.1.0.jar")
PROBE_CLASS = "org.vas.workloads.probe.ShuffleProbe"
_ONE_ATTEMPT_EACH = {
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
}
_COUNTED_ALIKE = (
    "MAP_OUTPUT_RECORDS",
    "MAP_OUTPUT_MATERIALIZED_BYTES",
    "SPILLED_RECORDS",
    "REDUCE_SHUFFLE_BYTES",
    "SHUFFLED_MAPS",
)
_MAINS = {
    "am": "org.apache.hadoop.mapreduce.v2.app.MRAppMaster",
    "map": "org.apache.hadoop.mapred.YarnChild",
    "reduce": "org.apache.hadoop.mapred.YarnChild",
}


@pytest.mark.long
def test_one_property_switches_the_shuffle_off(lab: Lab) -> None:
    stock = probe(lab, "stock", {})
    off = probe(lab, "off", SHUFFLE | profile_properties("off"))
    ours = probe(lab, "ours", SHUFFLE)
    assert {name: off.counter(name) for name in _COUNTED_ALIKE} == {
        name: stock.counter(name) for name in _COUNTED_ALIKE
    }
    assert off.counter("SPILLED_RECORDS") == 2 * off.counter("MAP_OUTPUT_RECORDS")
    assert ours.counter("SPILLED_RECORDS") == ours.counter("MAP_OUTPUT_RECORDS")
    # Nothing was created below the job's directory: what is, is counted in a group of its own.
    assert "VAS shuffle" not in off.counters
    assert ours.counters["VAS shuffle"]["DIRECTORIES_CREATED"] > 0


def probe(lab: Lab, name: str, properties: Mapping[str, str]) -> JobResult:
    """A small job."""
    lab.call(["rm", "-rf", str(inside(lab, "submit", name))])
    main = [PROBE, PROBE_CLASS, f"/submit/{name}"]
    conf = _ONE_ATTEMPT_EACH | {"mapreduce.job.reduces": "4"} | dict(properties)
    return lab.run_job(main, conf)


@pytest.mark.parametrize("profile", [pytest.param("short", marks=pytest.mark.long), "default"])
def test_a_job_is_submitted_with_a_profile_and_its_tasks_map_the_archive(
    lab: Lab, profile: str
) -> None:
    # The probe is of the job's own jar, and `auto` would not know it.
    many = "-Dprobe.maps=12"
    found, loaded = submitted(lab, profile, profile, many, "-Dvas.containers.reuse=on")
    assert found["profile"] == profile
    assert found["status"] == 0
    assert found["warnings"] == []
    # The application master, maps and reducers: each writes what it loaded from where.
    assert loaded == {("am", True), ("map", True), ("reduce", True)}
    logs = list((lab.spec.temporary / f"loaded-{profile}").iterdir())
    shares = {log.name: _share_with_mapped_lambdas(log.read_text()) for log in logs}
    assert min(shares.values()) > 0.95, shares
    (master,) = [log.read_text() for log in logs if log.name.startswith("am-")]
    assert " org.vas.app.WarmAllocator " in master
    assert reused_in_newest(lab) > 0


def reused_in_newest(lab: Lab) -> int:
    """How many attempts of the lab's newest job ran in a container that had run another."""
    jobs = as_list(history(lab, "mapreduce/jobs")["jobs"]["job"])
    newest = max(jobs, key=lambda job: job["startTime"])
    groups = history(lab, f"mapreduce/jobs/{newest['id']}/counters")["jobCounters"]["counterGroup"]
    counters = [each for group in as_list(groups) for each in as_list(group["counter"])]
    return sum(it["totalCounterValue"] for it in counters if it["name"] == "CONTAINERS_REUSED")


@pytest.mark.long
def test_tasks_run_without_an_archive_that_is_damaged(lab: Lab) -> None:
    damaged = lab.spec.temporary / "damaged.jsa"
    damaged.write_bytes(lab.spec.archive.file.read_bytes()[: 1 << 20])
    opts = f"-Xmx300m -XX:SharedArchiveFile={damaged}"
    options = [f"-Dmapreduce.{kind}.java.opts={opts}" for kind in ("map", "reduce")]
    found, loaded = submitted(lab, "damaged", "default", *options)
    assert found["status"] == 0
    assert loaded == {("am", True), ("map", False), ("reduce", False)}


@pytest.mark.long
def test_U1_a_runnable_jar_runs_with_a_profile(lab: Lab, tmp_path: Path) -> None:
    lab.call(["rm", "-rf", str(inside(lab, "submit", "runnable"))])
    with zipfile.ZipFile(PROBE) as probe_jar, zipfile.ZipFile(tmp_path / "run.jar", "w") as made:
        made.writestr("META-INF/MANIFEST.MF", f"Main-Class: {PROBE_CLASS}\n\n")
        for name in probe_jar.namelist():
            if not name.startswith("META-INF/"):
                made.writestr(name, probe_jar.read(name))
    argv = ["submit", "--json", "--profile", "short", str(tmp_path / "run.jar")]
    found = json.loads(vas(lab, *argv, "-Dmapreduce.job.reduces=2", "/submit/runnable"))
    assert found["status"] == 0
    assert len(found["applications"]) == 1
    assert len(list(inside_output(lab, "submit/runnable"))) == 2


@pytest.mark.long
def test_U1_streaming_counts_words_with_a_profile(lab: Lab, tmp_path: Path) -> None:
    (streaming,) = lab.spec.hadoop_lib.glob("hadoop-streaming-*.jar")
    (tmp_path / "map.sh").write_text("#!/bin/sh\ntr ' ' '\\n'\n")
    (tmp_path / "map.sh").chmod(0o755)
    text = inside(lab, "submit", "streaming")
    script = 'rm -rf "$1"; mkdir -p "$1"; printf "a b\\nb\\n" >"$1/in"'
    lab.call(["sh", "-euc", script, "sh", str(text)])
    job = ["-files", str(tmp_path / "map.sh"), "-D", "mapreduce.job.reduces=1"]
    job += ["-input", "/submit/streaming/in", "-output", "/submit/streaming/out"]
    job += ["-mapper", "map.sh", "-reducer", "uniq -c"]
    found = json.loads(vas(lab, "submit", "--json", str(streaming), *job))
    assert found["status"] == 0
    assert found["profile"] == "short", found["why"]
    lines = lab.call(["cat", str(text / "out/part-00000")]).stdout.split()
    assert lines == ["1", "a", "2", "b"]


def inside_output(lab: Lab, path: str) -> list[str]:
    """The names of the part files below a directory of the lab's Lustre."""
    listed = lab.call(["ls", str(inside(lab, path))]).stdout.split()
    return [name for name in listed if name.startswith("part-")]


def submitted(
    lab: Lab, name: str, profile: str, *options: str
) -> tuple[dict[str, Any], set[tuple[str, bool]]]:
    """A probe job run by `vas submit`, and of which kinds of JVM the main class was mapped."""
    logs = lab.spec.temporary / f"loaded-{name}"
    lab.call(["rm", "-rf", str(logs), str(inside(lab, "submit", name))])
    lab.call(["mkdir", "-p", str(logs)])
    variables = {
        "am": "yarn.app.mapreduce.am.env",
        "map": "mapreduce.map.env",
        "reduce": "mapreduce.reduce.env",
    }
    listen = [
        f"-D{key}=JDK_JAVA_OPTIONS=-Xlog:class+load:file={logs}/{role}-%p"
        for role, key in variables.items()
    ]
    # A second attempt would be killed before it has loaded its classes.
    once = [f"-D{key}={value}" for key, value in _ONE_ATTEMPT_EACH.items()]
    job = [PROBE, PROBE_CLASS, *listen, *once, "-Dmapreduce.job.reduces=2", *options]
    argv = ["submit", "--json", "--profile", profile, *job, f"/submit/{name}"]
    found = json.loads(vas(lab, *argv))
    # The shuffle is on: its collector and its merge are there.
    texts = [(log.name.split("-")[0], log.read_text()) for log in logs.iterdir()]
    ours = {
        "map": "org.vas.shuffle.map.LustreCollector",
        "reduce": "org.vas.shuffle.reduce.LustreMerge",
    }
    assert all(ours.get(role, "") in text for role, text in texts)
    return found, {(role, _is_mapped(_MAINS[role], text)) for role, text in texts}


def _share_with_mapped_lambdas(log: str) -> float:
    """Of the classes whose lambdas were linked, the share of those with a lambda of the archive.

    Not the share of lambdas: when threads link one call site at once, the first takes the
    archive's lambda and the JVM makes one for each other thread, more of them on a busy machine.
    """
    lines = [line for line in log.splitlines() if "$$Lambda$" in line]
    mapped = [line for line in lines if "source: shared objects file" in line]
    return len(_classes_of_lambdas(mapped)) / len(_classes_of_lambdas(lines))


def _classes_of_lambdas(lines: list[str]) -> set[str]:
    return {line.partition("$$Lambda$")[0].split()[-1] for line in lines}


def _is_mapped(main: str, log: str) -> bool:
    (line,) = [line for line in log.splitlines() if f" {main} " in line]
    return "source: shared objects file" in line
