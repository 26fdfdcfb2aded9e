"""mrjob, which writes streaming jobs in Python, against a lab's `hadoop`: its probes, and a job."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_tests.in_lab import inside

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # It imports `pipes` and `distutils`.
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="mrjob 0.7.4 ends at Python 3.11"),
]
_JOB = """
from mrjob.job import MRJob

class Words(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            yield word, 1
    def combiner(self, word, counts):
        yield word, sum(counts)
    def reducer(self, word, counts):
        yield word, sum(counts)

if __name__ == "__main__":
    Words.run()
"""
_PROBES = """
import json, sys
from mrjob.hadoop import HadoopJobRunner

runner = HadoopJobRunner(hadoop_tmp_dir=sys.argv[1] + "/tmp")
fs, place = runner.fs, sys.argv[1] + "/probe"
found = {"version": runner.get_hadoop_version(), "jar": runner.get_hadoop_streaming_jar()}
found["absent"] = fs.exists(place)
fs.mkdir(place)
fs.mkdir(place)
fs.put(sys.argv[2], place + "/a")
fs.touchz(place + "/b")
found["bytes"] = fs.du(place)
found["there"] = fs.exists(place)
found["text"] = b"".join(fs.cat(place + "/a")).decode()
found["listed"] = sorted(fs.ls(place))
fs.rm(place)
found["removed"] = not fs.exists(place)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the pinned mrjob."""
    home = tmp_path_factory.mktemp("mrjob")
    run([sys.executable, "-P", "-m", "venv", home])
    python = home / "bin/python"
    lock = REPOSITORY / "core/locks/python-mrjob.txt"
    run([python, "-P", "-m", "pip", "install", "-q", "--require-hashes", "-r", lock])
    return python


def mrjob(lab: Lab, python: Path, *words: str) -> str:
    """Runs a program of that Python in the lab, with HADOOP_HOME as the page says."""
    home = f"HADOOP_HOME={lab.spec.hadoop_lib.parent}"
    return lab.call(["env", "-u", "PYTHONPATH", home, str(python), *words]).stdout


def test_each_probe_of_mrjob_is_answered(lab: Lab, python: Path, tmp_path: Path) -> None:
    lab.call(["rm", "-rf", str(inside(lab, "mrjob"))])
    (tmp_path / "probes.py").write_text(_PROBES)
    (tmp_path / "in").write_text("ant bee\n")
    words = (str(tmp_path / "probes.py"), "lustre:///mrjob", str(tmp_path / "in"))
    found = json.loads(mrjob(lab, python, *words))
    (jar,) = lab.spec.hadoop_lib.glob("hadoop-streaming-*.jar")
    assert found == {
        "version": "3.5.0",
        "jar": str(jar),
        "absent": False,
        "bytes": 8,
        "there": True,
        "text": "ant bee\n",
        "listed": ["lustre:///mrjob/probe/a", "lustre:///mrjob/probe/b"],
        "removed": True,
    }


def test_a_word_count_of_mrjob_reads_and_writes_lustre(
    lab: Lab, python: Path, tmp_path: Path
) -> None:
    chosen = random.Random(3).choices([f"w{number}" for number in range(50)], k=2_000)
    (tmp_path / "in").write_text("\n".join(" ".join(chosen[i::100]) for i in range(100)) + "\n")
    (tmp_path / "words.py").write_text(_JOB)
    place = inside(lab, "mrjob-words")
    put = 'rm -rf "$1"; mkdir -p "$1"; cp "$2" "$1/in"'
    lab.call(["sh", "-euc", put, "sh", str(place), str(tmp_path / "in")])
    base = f"lustre:///{place.name}"
    words = [str(tmp_path / "words.py"), "-r", "hadoop", "--hadoop-tmp-dir", f"{base}/tmp"]
    # Not that with mrjob: tasks get it with the job.
    words += ["--python-bin", f"{sys.base_prefix}/bin/python3", f"{base}/in"]
    lines = mrjob(lab, python, *words).splitlines()
    counted = {json.loads(word): int(n) for word, n in (line.split("\t") for line in lines)}
    assert counted == Counter(chosen)
    assert lab.call(["find", str(place / "tmp"), "-type", "f"]).stdout == ""
