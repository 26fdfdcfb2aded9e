"""Hadoop streaming on the lab's YARN: programs in Python, and the shuffle on Lustre."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from vas_lab.lab import Lab
from vas_tests.in_lab import inside, vas

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]
_PROGRAMS = {
    "words.py": (
        "import sys\nfor line in sys.stdin:\n    for w in line.split(): print(w, 1, sep='\\t')"
    ),
    # Of the maps' output and of the combiner's: both are WORD<tab>NUMBER, by word.
    "add.py": (
        "import itertools, sys\n"
        "pairs = (line.rstrip('\\n').split('\\t') for line in sys.stdin)\n"
        "for w, found in itertools.groupby(pairs, key=lambda pair: pair[0]):\n"
        "    print(w, sum(int(n) for _, n in found), sep='\\t')"
    ),
}
_REDUCERS = 3
_WORDS = [f"{letter}{number}" for letter in "abcdefgh" for number in range(20)]


def test_a_word_count_in_python_with_a_combiner_and_a_partitioner(lab: Lab, tmp_path: Path) -> None:
    (streaming,) = lab.spec.hadoop_lib.glob("hadoop-streaming-*.jar")
    for name, text in _PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env python3\n{text}\n")
        (tmp_path / name).chmod(0o755)
    chosen = random.Random(1).choices(_WORDS, k=20_000)
    (tmp_path / "in").write_text("\n".join(" ".join(chosen[i::500]) for i in range(500)) + "\n")
    place = inside(lab, "streaming")
    put = 'rm -rf "$1"; mkdir -p "$1/in"; cp "$2" "$1/in/a"; cp "$2" "$1/in/b"'
    lab.call(["sh", "-euc", put, "sh", str(place), str(tmp_path / "in")])
    files = ",".join(str(tmp_path / name) for name in _PROGRAMS)
    job = ["-files", files, "-D", f"mapreduce.job.reduces={_REDUCERS}"]
    # Words of one letter meet in one reducer: the partitioner reads the first letter alone.
    job += ["-D", "mapreduce.partition.keypartitioner.options=-k1.1,1.1"]
    job += ["-input", "/streaming/in", "-output", "/streaming/out"]
    job += ["-mapper", "words.py", "-combiner", "add.py", "-reducer", "add.py"]
    job += ["-partitioner", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"]
    found = json.loads(vas(lab, "submit", "--json", "--shuffle", "lustre", str(streaming), *job))
    assert (found["status"], found["shuffle"]["medium"]) == (0, "lustre")
    parts = [
        lab.call(["cat", str(place / f"out/part-{number:05}")]).stdout.splitlines()
        for number in range(_REDUCERS)
    ]
    counted = dict(line.split("\t") for part in parts for line in part)
    assert {word: int(n) for word, n in counted.items()} == {
        word: 2 * n for word, n in Counter(chosen).items()
    }
    letters = [{line[0] for line in part} for part in parts]
    assert sum(map(len, letters)) == len(set().union(*letters)), "a letter is in two parts"
