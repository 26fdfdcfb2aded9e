"""Makes an AOT cache of JDK 25 or later by a training run (JEP 483, 514 and 515).

The run is Hadoop's WordCount with the local runner: client, map and reduce in one JVM. The cache
has the classes that the run linked, and profiles of the methods that it ran.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.process import run

FIRST_JDK = 25
_EXAMPLES = "hadoop-mapreduce-examples-*.jar"
_MAIN = "org.apache.hadoop.examples.ExampleDriver"
# Enough words for the loops of map, sort and reduce to be compiled.
_WORDS = "".join(f"word{number % 97} of line {number}\n" for number in range(20_000))
_TIMEOUT_SECONDS = 600


def check_jdk(version: str, home: Path) -> None:
    """Raises BadInput for a JDK that cannot make an AOT cache: a version before 25."""
    found = re.match(r"\d+", version)
    if found is None or int(found[0]) < FIRST_JDK:
        raise BadInput(
            f"JDK {version or 'of no known version'} has no cache of this kind",
            where=str(home),
            hint=f"set JAVA_HOME to JDK {FIRST_JDK} or later, or use --kind cds",
        )


def train(java: Path, jars: Sequence[Path], cache: Path) -> None:
    """Runs WordCount on the class path `jars` and writes the file `cache`.

    Raises BadInput if Hadoop's examples are not in `jars`, VasError if the run fails.
    """
    if not any(jar.match(_EXAMPLES) for jar in jars):
        raise BadInput(
            f"no {_EXAMPLES} in the class path",
            where="training run",
            hint="give --classpath with the jar, or use --kind cds",
        )
    with tempfile.TemporaryDirectory(prefix="vas-cds-") as name:
        scratch = Path(name)
        (scratch / "in").write_text(_WORDS)
        local = {
            "fs.defaultFS": "file:///",
            "mapreduce.framework.name": "local",
            "hadoop.tmp.dir": str(scratch / "tmp"),
        }
        options = [word for key, value in local.items() for word in ("-D", f"{key}={value}")]
        files = [f"file://{scratch / part}" for part in ("in", "out")]
        flags = (f"-XX:AOTCacheOutput={cache}", f"-Djava.io.tmpdir={scratch}")
        program = (_MAIN, "wordcount", *options, *files)
        words: tuple[str | Path, ...] = (java, *flags, "-cp", ":".join(map(str, jars)), *program)
        run(words, timeout_seconds=_TIMEOUT_SECONDS)
