"""Checks `vas layout put`, which is killed and resumed, and `vas layout fix`."""

from __future__ import annotations

import filecmp
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vas_accept.checks.layouts import write
from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import VAS, AcceptancePlace
from vas_core.predictable_names import PUT_DATA, PUT_JOURNAL

MIB = 1 << 20
_STRIPES = 24
_TRIES = 4
_SPLIT = ("--split", "1M")


@contextmanager
def _source(size: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vas-accept-") as directory:
        path = Path(directory) / "source"
        with path.open("wb") as stream:
            for _ in range(size // MIB):
                stream.write(os.urandom(MIB))
        yield path


def _resume(place: AcceptancePlace) -> str:
    directory = place.own("put")
    with _source(_STRIPES * MIB) as source:
        for number in range(_TRIES):
            final = directory / f"copy-{number}"
            begin = ("layout", "put", *_SPLIT, "--osts", str(len(place.osts)), "--parallel", "1")
            if not _kill_halfway(place, [*VAS, *begin, str(source), str(final)], directory):
                continue
            if final.exists():
                raise Deviation("no final name before the copy is whole", f"{final.name} is there")
            done = json.loads(place.vas(*begin, "--json", source, final).stdout)
            return _resumed(done["resumed_stripes"], source, final)
    raise NotApplicable(f"{_STRIPES} stripes were copied before the put could be killed")


def _kill_halfway(place: AcceptancePlace, argv: list[str], directory: Path) -> bool:
    """Kills a put once a stripe is in its journal; False if it ended before."""
    put = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while put.poll() is None:
            place.seconds_left()
            for journal in directory.glob(PUT_JOURNAL.of(key="*")):
                if _has_stripe(journal):
                    os.kill(put.pid, signal.SIGKILL)
                    return put.wait() == -signal.SIGKILL
            time.sleep(0.002)
    finally:
        put.kill()
        put.wait()
    return False


def _has_stripe(journal: Path) -> bool:
    try:
        with journal.open("rb") as stream:
            return b'"stripe":' in stream.read(4096)
    except OSError:
        return False


def _resumed(resumed: int, source: Path, final: Path) -> str:
    if not 0 < resumed < _STRIPES:
        raise Deviation(f"1 to {_STRIPES - 1} stripes of the killed put are kept", f"{resumed}")
    if not filecmp.cmp(source, final, shallow=False):
        raise Deviation("the copy has the source's bytes", "it has others")
    any_name = dict.fromkeys(("key", "token"), "*")
    names = (PUT_JOURNAL.of(**any_name), PUT_DATA.of(**any_name))
    left = [path.name for name in names for path in final.parent.glob(name)]
    if left:
        raise Deviation("no hidden file is left", ", ".join(left))
    return f"killed by SIGKILL, resumed with {resumed} of {_STRIPES} stripes, the same bytes"


def _fix(place: AcceptancePlace) -> str:
    directory, lfs = place.own("fix"), place.lfs.program
    wrong, mirrored = directory / "wrong", directory / "mirrored"
    place.run([lfs, "setstripe", "-S", "64K", "-c", "-1", wrong])
    place.run([lfs, "setstripe", "-N2", "-S", "64K", "-c", "-1", mirrored])
    for path in (wrong, mirrored):
        write(path)
    before = wrong.read_bytes()
    words = ("layout", "fix", *_SPLIT, "--osts", str(len(place.osts)), "--json", directory)
    if len(place.osts) == 1:
        raise NotApplicable("with one OST every split lies on one")
    result = _results(place.vas(*words, "--apply").stdout)
    want = {"wrong": "migrated", "mirrored": "left alone"}
    if {name: each.split(",")[0] for name, each in result.items()} != want:
        raise Deviation(f"{want}", f"{result}")
    if wrong.read_bytes() != before:
        raise Deviation("the migrated file has its bytes", "it has others")
    again = _results(place.vas(*words).stdout)
    if "wrong" in again:
        raise Deviation("nothing is left to migrate", again["wrong"])
    return "a file of small stripes was migrated, its bytes kept; a mirrored one left alone"


def _results(printed: str) -> dict[str, str]:
    return {Path(each["path"]).name: each["result"] for each in json.loads(printed)}


CHECKS = (
    AcceptanceCheck(
        "put-resume",
        "put: killed by SIGKILL, resumed",
        _resume,
        "an interrupted copy begins again, or is wrong",
        "send the report; copy by `lfs setstripe` and `cp` meanwhile",
    ),
    AcceptanceCheck(
        "fix",
        "fix: small stripes migrated, mirrors left alone",
        _fix,
        "files keep stripes that break their splits, or would lose their mirrors",
        "do not run `vas layout fix --apply`; send the report",
    ),
)
