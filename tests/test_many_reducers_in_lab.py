"""A job of so many reducers that each costs little but its JVM's start, on the lab's YARN."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_lab.lab import Lab
from vas_tests.in_lab import inside
from vas_tests.shuffle_cases import OURS, PROGRAMS
from vas_tests.shuffle_runs import assert_nothing_left, files, run
from vas_tests.words import make_words, word_counts

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(1800)]

_REDUCERS = 500
_SMALL = {
    "mapreduce.job.reduces": str(_REDUCERS),
    "mapreduce.reduce.memory.mb": "128",
    "mapreduce.reduce.java.opts": "-Xmx96m",
    # More at a time only get into each other's way.
    "mapreduce.job.running.reduce.limit": "6",
}


def test_five_hundred_reducers(lab: Lab) -> None:
    """Against what counting says, not against stock: its 500 JVMs would take as long again."""
    text = inside(lab, "shuffle/in/text")
    lab.call(["rm", "-rf", str(text)])
    make_words(lab, text)
    ours = run(lab, PROGRAMS["wordcount"], "many", {**_SMALL, **OURS})
    joined = lab.call(["sh", "-c", 'tail -n +1 "$@"', "sh", *files(lab, "many")]).stdout
    assert by_file(joined) == word_counts(lab, text, _REDUCERS)
    assert ours.counter("SHUFFLED_MAPS") == ours.total_maps * _REDUCERS
    assert_nothing_left(lab, ours)


def by_file(joined: str) -> dict[str, str]:
    """File name -> text, of what `tail` prints of many files."""
    parts = joined.split("==> ")[1:]
    texts = dict(part.split(" <==\n", 1) for part in parts)
    return {Path(name).name: text.rstrip("\n") for name, text in texts.items()}
