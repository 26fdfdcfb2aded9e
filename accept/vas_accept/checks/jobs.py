"""Checks a TeraSort run by YARN: its rows, whether maps ran where their bytes are, leftovers."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_core.errors import NotHere
from vas_core.shown import counted
from vas_yarn.cds.class_path import ClassPath, hadoop_class_path
from vas_yarn.site_files import configuration_directory, site_properties

_ROWS = 320_000
_MAPS, _REDUCERS = 4, 3
LEAST_LOCAL = 0.9
_STAGING = "yarn.app.mapreduce.am.staging-dir"
_HADOOPS_STAGING = "tmp/hadoop-yarn/staging"
_CLEAN_SECONDS = 30.0


def _terasort(place: AcceptancePlace) -> str:
    if not place.options.jobs:
        raise NotApplicable(
            "no job is run as this user: --jobs runs one, as --as USER where that is given"
        )
    jar, root = _examples(), f"lustre://{_inside(place, place.own('jobs'))}"
    maps = f"-Dmapreduce.job.maps={_MAPS}"
    reduces = f"-Dmapreduce.job.reduces={_REDUCERS}"
    # Blocks of all servers, also of so little data.
    plain = ("-Dvas.lustre.progressive=false", "-Dvas.lustre.block-size=16m")
    made = _submit(place, jar, "teragen", maps, *plain, str(_ROWS), f"{root}/in")
    sort = _submit(place, jar, "terasort", reduces, *plain, f"{root}/in", f"{root}/out")
    checked = _submit(place, jar, "teravalidate", f"{root}/out", f"{root}/report")
    report = (place.directory / "jobs/report/part-r-00000").read_text().split()
    if len(report) != 2 or report[0] != "checksum":
        raise Deviation("TeraValidate finds all rows in order", " ".join(report)[:300])
    rows = json.loads(place.vas("job", "locality", sort, "--json").stdout)
    where = judge_locality(rows)
    for application in (made, sort, checked):
        _wait_until_empty(place, application)
    return f"{_ROWS} rows in order; {where}; nothing left"


def judge_locality(rows: list[dict[str, Any]]) -> str:
    """Returns a sentence about the rows of `vas job locality --json`.

    Raises Deviation, with the reasons, if less than 90 % of the bytes were local.
    """
    size = sum(row["length"] or 0 for row in rows)
    local = sum(row["local_bytes"] or 0 for row in rows)
    reasons = Counter(f"{row['where']}: {row['why']}" for row in rows)
    told = "; ".join(f"{counted(count, 'map')} {why}" for why, count in reasons.most_common(4))
    if not size or local < LEAST_LOCAL * size:
        share = f"{local / size:.0%}" if size else "none"
        raise Deviation(f"{LEAST_LOCAL:.0%} of the bytes read locally", f"{share}: {told}")
    return f"{local / size:.0%} of the bytes were local ({told})"


def _wait_until_empty(place: AcceptancePlace, application: str) -> None:
    """Returns when the master has removed its job's files, which it does as the last thing."""
    configured = site_properties(configuration_directory()).get(_STAGING, _HADOOPS_STAGING)
    staging = place.mount / configured.removeprefix("lustre://").lstrip("/")
    end = time.monotonic() + _CLEAN_SECONDS
    while left := leftovers(staging, application):
        if time.monotonic() > end:
            raise Deviation("nothing of the job is left in the staging directory", ", ".join(left))
        time.sleep(1)


def leftovers(staging: Path, application: str) -> list[str]:
    """Returns the paths that an application's job left below the staging directory."""
    job = application.replace("application_", "job_")
    return [str(path) for path in staging.glob(f"*/.staging/{job}")]


def _inside(place: AcceptancePlace, directory: Path) -> str:
    return f"/{directory.resolve().relative_to(place.mount)}"


def _examples() -> Path:
    try:
        jars = ClassPath.of(hadoop_class_path()).jars
    except NotHere as missing:
        raise NotApplicable(missing.what) from missing
    found = [jar for jar in jars if jar.name.startswith("hadoop-mapreduce-examples-")]
    if not found:
        raise NotApplicable("hadoop-mapreduce-examples-*.jar is not on `hadoop classpath`")
    return found[0]


def _submit(place: AcceptancePlace, jar: Path, *words: str) -> str:
    """Runs a job by `vas submit`; returns the application's id."""
    told = json.loads(place.vas("submit", "--json", jar, *words).stdout)
    if not told["applications"]:
        raise Deviation(f"{words[0]} is submitted to YARN", "it ran without an application")
    application: str = told["applications"][-1]
    return application


CHECKS = (
    AcceptanceCheck(
        "terasort",
        "TeraSort by the queue, its locality, its leftovers",
        _terasort,
        "scientists' jobs fail, or read over the network",
        "read `vas job locality APPLICATION` and `yarn logs`; docs/troubleshooting.md",
    ),
)
