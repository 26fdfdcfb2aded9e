"""Runs Hadoop's file-system contract tests, and a job's shuffle in one process, on the mount."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_accept.statistics import requests_sent
from vas_core.errors import NotHere
from vas_yarn.cds.class_path import hadoop_class_path, java_home
from vas_yarn.jars import find_accept_jar, find_hadoop, find_plugins

LAYOUTS = ("packed", "per-reducer")
MAPS, REDUCERS, RECORDS = 4, 8, 5000
_FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_CONTRACT = "org.vas.filesystem.ContractSuites"
_SHUFFLE = "org.vas.workloads.ShuffleOnMount"
# The collector of packed map output makes one file and its manifest.
_PACKED_FILES = 2
_MOST_TOLD = 5


def _jar(name: str) -> Path:
    try:
        return find_accept_jar(name)
    except NotHere as missing:
        raise NotApplicable(f"{missing.what}: {missing.hint}") from missing


def _class_path(first: Path) -> str:
    try:
        return f"{first}:{find_plugins()}:{find_hadoop()}/*"
    except NotHere:
        pass
    try:
        return f"{first}:{hadoop_class_path()}"
    except NotHere as missing:
        raise NotApplicable(f"no Hadoop here: {missing.what}") from missing


def _java(place: AcceptancePlace, jar: Path, words: Sequence[str | Path]) -> dict[str, Any]:
    """Runs a program of Java; returns the JSON of its last line."""
    try:
        java = java_home() / "bin/java"
    except NotHere as missing:
        raise NotApplicable(missing.what) from missing
    done = place.run([java, *_FLAGS, "-cp", _class_path(jar), *words])
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _contract(suite: str, place: AcceptancePlace) -> str:
    jar = _jar("vas-contract-suites")
    mounts = place.own(f"contract-{suite}")
    with tempfile.TemporaryDirectory(prefix="vas-accept-") as local:
        settings = (f"-Dvas.tests.mounts={mounts}", f"-Djava.io.tmpdir={local}")
        told = _java(place, jar, [*settings, f"-Dtest.build.data={local}", _CONTRACT, suite])
    counts = f"{told['found']} tests: {told['passed']} passed, {told['aborted']} left out"
    if told["failed"] or not told["passed"]:
        said = "; ".join(f"{it['test']}: {it['what']}" for it in told["failures"][:_MOST_TOLD])
        raise Deviation("every test passes", f"{counts}, {told['failed']} failed: {said}")
    return counts


def _shuffle(place: AcceptancePlace) -> str:
    expected, _ = _run_shuffle(place, "stock")
    told = []
    sent: dict[str, Counter[str] | None] = {}
    for layout in LAYOUTS:
        ran, sent[layout] = _run_shuffle(place, layout)
        if ran["output"] != expected["output"] or ran["reduced"] != MAPS * RECORDS:
            raise Deviation(
                f"{layout}: the output of stock's shuffle, of {MAPS * RECORDS} records",
                f"{ran['reduced']} records reduced, the output is another",
            )
        told.append(f"{layout}: stock's output, {ran['files']} files{_told(sent[layout])}")
        if layout == "packed" and ran["files"] > MAPS * _PACKED_FILES:
            raise Deviation(f"packed: {_PACKED_FILES} files a map", f"{ran['files']} of {MAPS}")
    compare_layouts(sent["packed"], sent["per-reducer"])
    return "; ".join(told)


def _run_shuffle(place: AcceptancePlace, layout: str) -> tuple[dict[str, Any], Counter[str] | None]:
    jar = _jar("vas-workloads")
    keys = (f"probe.maps={MAPS}", f"probe.records={RECORDS}", f"mapreduce.job.reduces={REDUCERS}")
    mount = place.own(f"shuffle-{layout}")
    with tempfile.TemporaryDirectory(prefix="vas-accept-") as local:
        before = _sent(place)
        ran = _java(place, jar, [_SHUFFLE, mount, layout, local, *keys])
        after = _sent(place)
    return ran, None if before is None or after is None else after - before


def _sent(place: AcceptancePlace) -> Counter[str] | None:
    try:
        return requests_sent(place)
    except NotApplicable:
        return None


def _told(sent: Counter[str] | None) -> str:
    names = ("mdt_enqueue", "mds_close", "ost_enqueue", "ost_glimpse", "ost_sync")
    if sent is None:
        return ""
    return ", " + ", ".join(f"{sent[name]} {name}" for name in names if sent[name])


def compare_layouts(packed: Counter[str] | None, each: Counter[str] | None) -> None:
    """Raises Deviation if packed map output sent more requests than one file per reducer did.

    Compares `mds_close` and `ost_sync`. The counts are by kind of request; None means that they
    are not known, and nothing is compared.
    """
    if packed is None or each is None:
        return
    for name in ("mds_close", "ost_sync"):
        if packed[name] > each[name]:
            raise Deviation(
                f"packed asks no more {name} than per-reducer",
                f"{packed[name]} against {each[name]}",
                meaning="the layout of map output that is VAS' default costs more here",
                fix="run `vas bench shuffle`, and set vas.shuffle.layout by it",
            )


SUITES = {
    "Lustre": "Hadoop's contract of file systems",
    "FileSystem": "Hadoop's older contract (FileSystem)",
    "FileContext": "Hadoop's suites of FileContext",
    "Symlink": "Hadoop's suite of symbolic links",
}
CHECKS = (
    *(
        AcceptanceCheck(
            f"contract-{suite.lower()}",
            title,
            partial(_contract, suite),
            "Hadoop's programs would find lustre:/// other than they rely on",
            "send the names of the tests that failed; jobs may run, but check their output",
        )
        for suite, title in SUITES.items()
    ),
    AcceptanceCheck(
        "shuffle",
        "Collector and merge in one process, packed and per-reducer",
        _shuffle,
        "jobs with VAS' shuffle would fail, or give other output than stock's",
        "run jobs with vas.shuffle.enabled=false; send the report",
    ),
)
