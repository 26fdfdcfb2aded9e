"""Brings the class list of CDS archives up to date: `python -m vas_tests.record_classes`.

Run it after classes of the plugins were renamed, or link other lambdas: until then the archives
lack them, and test_submit_in_lab.py fails. The jobs of a lab write what each of their JVMs loads.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.spec import find_java
from vas_tests.in_lab import inside, vas
from vas_yarn.cds.archive import CLASSES

_PROBE = REPOSITORY / "yarn-plugins/workloads/target/vas-workloads-0.1.0.jar"
_STATE = REPOSITORY / "build/lab/classes"
_ENVIRONMENTS = ("yarn.app.mapreduce.am.env", "mapreduce.map.env", "mapreduce.reduce.env")
# Classes that programs generate as they run, and those of the jobs' own jars.
_NOT_LISTED = ("FastClassByGuice", "EnhancerByGuice", "/$Proxy", "org/vas/workloads/")


def record() -> None:
    """Runs jobs in a lab of its own, and rewrites the list with the classes that they loaded."""
    lists = _STATE.with_name("class-lists")
    shutil.rmtree(lists, ignore_errors=True)
    lists.mkdir(parents=True)
    with Lab.start(LabOptions(state_dir=_STATE, hosts=4), tied=True) as lab:
        for profile in ("default", "short", "off"):
            _run(lab, profile, lists)
    texts = [path.read_text() for path in lists.iterdir()]
    jdk = (find_java() / "lib/classlist").read_text()
    CLASSES.write_text(merged(CLASSES.read_text(), texts, jdk))


def merged(old: str, recorded: Iterable[str], jdk: str) -> str:
    """Returns the old list with the recorded classes added.

    Our own classes in the old list are dropped first, so that renamed ones go. Pure.
    """
    head = [line for line in old.splitlines() if line.startswith("#")]
    kept = [line for line in old.splitlines() if "org/vas/" not in line]
    new = [line for text in recorded for line in text.splitlines()]
    lines = {line.partition(" id: ")[0].strip() for line in kept + new if not line.startswith("#")}
    lines -= {"", *jdk.splitlines()}
    listed = [line for line in lines if not any(name in line for name in _NOT_LISTED)]
    return "\n".join([*head, *sorted(listed, key=lambda line: (line.startswith("@"), line))]) + "\n"


def _run(lab: Lab, profile: str, lists: Path) -> None:
    lab.call(["rm", "-rf", str(inside(lab, "classes", profile))])
    flags = f"-Xshare:off -XX:DumpLoadedClassList={lists}/{profile}-%p"
    options = [f"-D{key}=JDK_JAVA_OPTIONS={flags}" for key in _ENVIRONMENTS]
    job = [
        str(_PROBE),
        "org.vas.workloads.probe.ShuffleProbe",
        *options,
        *(() if profile == "off" else ("-Dvas.containers.reuse=on",)),
        "-Dmapreduce.job.reduces=2",
    ]
    vas(lab, "submit", "--profile", profile, *job, f"/classes/{profile}")


if __name__ == "__main__":
    record()
