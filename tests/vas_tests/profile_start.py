"""Prints what the JVMs of a short job spend their start on: `python -m vas_tests.profile_start`.

With a file's name behind it, it also draws a flame graph: docs/warm-start.svg is one.

Each JVM of a job with one map records itself (JFR, a sample each 10 ms), in a lab of its own. A
sample counts for the innermost frame that has a rule, so a class that is loaded while the
configuration is read counts as loading. JFR sees Java code alone: what the compilers and the
collector need is told apart.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vas_core.polling import poll
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_core.svg.picture import write_picture
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.spec import find_java
from vas_tests.flame import flame_graph
from vas_tests.in_lab import inside
from vas_yarn.profiles import profile_file

_STATE = REPOSITORY / "build/lab/profile"
_RUNS = 5
_EXAMPLES = "hadoop-mapreduce-examples-*.jar"
# The role of a JVM, and the property that sets a variable of its environment.
_VARIABLE = "JDK_JAVA_OPTIONS"
_ROLES = {
    "master": "yarn.app.mapreduce.am.env",
    "map": "mapreduce.map.env",
}
_HEADINGS = {"client": "Client", "master": "Master", "map": "First JVM of a map"}
# A JVM that is told to end first writes its recording.
_PATIENT = {"yarn.nodemanager.sleep-delay-before-sigkill.ms": "5000"}
_RULES = (
    ("lambdas, method handles", ("java.lang.invoke.",)),
    ("loading and linking classes", ("java.lang.ClassLoader", "jdk.internal.loader.")),
    ("opening jars", ("java.util.jar.", "java.util.zip.", "jdk.internal.jimage.")),
    ("reading configuration", ("org.apache.hadoop.conf.", "com.ctc.wstx.")),
    ("web server of the master", ("org.eclipse.jetty.", "com.google.inject.", "org.glassfish.")),
    ("encryption, tokens", ("sun.security.", "javax.crypto.", "com.sun.crypto.")),
    ("logging", ("org.apache.log4j.", "org.slf4j.")),
    ("calls between processes", ("org.apache.hadoop.ipc.", "org.apache.hadoop.thirdparty.")),
    ("metrics", ("org.apache.hadoop.metrics2.",)),
    ("files", ("org.apache.hadoop.fs.", "org.vas.filesystem.", "sun.nio.fs.")),
    ("history of the job", ("org.apache.hadoop.mapreduce.jobhistory.", "org.apache.avro.")),
    ("the master's own", ("org.apache.hadoop.mapreduce.v2.", "org.vas.app.")),
    ("the task's own", ("org.apache.hadoop.mapred.", "org.vas.shuffle.")),
)
_OTHER = "anything else"


def profile(picture: Path | None) -> None:
    """Runs the job several times and prints a table for each kind of JVM; draws a picture."""
    recordings = _STATE.with_name("recordings")
    shutil.rmtree(recordings, ignore_errors=True)
    options = LabOptions(state_dir=_STATE, hosts=4, properties=_PATIENT)
    with Lab.start(options, tied=True) as lab:
        for number in range(_RUNS):
            _run(lab, recordings / str(number), number)
    graphs: dict[str, list[list[str]]] = {}
    for role in ("client", *_ROLES):
        # A JVM that is killed while it ends leaves an empty one.
        whole = (path for path in recordings.glob(f"*/{role}/*.jfr") if path.stat().st_size)
        found = [read(path) for path in whole]
        print("\n".join(table(role, found)))
        graphs[_HEADINGS[role]] = [stack for events in found for stack in stacks_of(events)]
    if picture:
        write_picture(flame_graph(graphs), picture, "What a start spends its time on, by samples")


def _run(lab: Lab, directory: Path, number: int) -> None:
    def recorded(role: str) -> str:
        (directory / role).mkdir(parents=True)
        # A NodeManager deletes a container's temporary files while its JVM still writes.
        repository = f"-XX:FlightRecorderOptions=repository={directory / 'chunks'}"
        recording = f"-XX:StartFlightRecording=settings=profile,filename={directory / role}/"
        return f"{recording} {repository}"

    (jar,) = lab.spec.hadoop_lib.glob(_EXAMPLES)
    options = [f"-D{key}.{_VARIABLE}={recorded(role)}" for role, key in _ROLES.items()]
    main = ["hadoop", "jar", str(jar), "pi", "-conf", str(profile_file("short")), *options]
    master = "-Dyarn.app.mapreduce.am.command-opts=-Xmx400m org.vas.app.VasAppMaster"
    lab.call(["mkdir", "-p", str(inside(lab, "user"))])
    lab.call(["env", f"{_VARIABLE}={recorded('client')}", *main, master, "1", "10"])
    # The master ends after its client.
    ended = (directory / "master").glob
    poll(lambda: [each.stat().st_size for each in ended("*.jfr")], any, 60, "the master to end")


def read(recording: Path) -> list[dict[str, Any]]:
    """Returns the samples of a recording, and its compilers' statistics."""
    kinds = "jdk.ExecutionSample,jdk.CompilerStatistics,jdk.GCPhasePause"
    jfr = find_java() / "bin/jfr"
    words = [str(jfr), "print", "--json", "--stack-depth", "200", "--events", kinds]
    found: list[dict[str, Any]] = json.loads(run([*words, str(recording)]).stdout)["recording"][
        "events"
    ]
    return found


def table(role: str, recordings: Iterable[list[dict[str, Any]]]) -> list[str]:
    """Returns lines: the share of the samples that each rule has, the largest first."""
    counted: Counter[str] = Counter()
    compiling: list[float] = []
    for events in recordings:
        compiling.append(max((compiled(each) for each in events), default=0.0))
        stacks = (each["values"] for each in events if each["type"] == "jdk.ExecutionSample")
        counted.update(rule(frames_of(values)) for values in stacks)
    runs, total = len(compiling), counted.total()
    if not total:
        return [f"{role}: no samples in {runs} recordings"]
    head = f"{role}: {runs} JVMs, {total / runs:.0f} samples each"
    rows = [f"  {count / total:5.0%} {name}" for name, count in counted.most_common()]
    return [f"{head}, compilers {sum(compiling) / runs:.2f} s each", *rows]


def compiled(event: Mapping[str, Any]) -> float:
    """Returns the seconds that the compilers had needed; 0 for another event."""
    if event["type"] != "jdk.CompilerStatistics":
        return 0.0
    text = str(event["values"]["totalTimeSpent"])
    return float(text.removeprefix("PT").removesuffix("S")) if text.startswith("PT") else 0.0


def stacks_of(events: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """Yields each sample's frames as `package.Class.method`, the outermost first."""
    for event in events:
        if event["type"] == "jdk.ExecutionSample":
            frames = (event["values"].get("stackTrace") or {}).get("frames", [])
            methods = [each["method"] for each in reversed(frames)]
            yield [f"{each['type']['name']}.{each['name']}".replace("/", ".") for each in methods]


def frames_of(values: Mapping[str, Any]) -> list[str]:
    """Returns the classes of a sample's frames, the innermost first."""
    frames = (values.get("stackTrace") or {}).get("frames", [])
    return [str(each["method"]["type"]["name"]).replace("/", ".") for each in frames]


def rule(frames: Iterable[str]) -> str:
    """Returns the name of the rule that the innermost frame has which has one."""
    for frame in frames:
        for name, prefixes in _RULES:
            if frame.startswith(prefixes):
                return name
    return _OTHER


if __name__ == "__main__":
    profile(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
