"""A job of 5,000 maps of one record each, by `vas submit` on the lab's YARN.

The right answer was written down before the job was run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.adversary.jobs import DIRECTORY, Program, build, digests
from vas_tests.attempts import containers
from vas_tests.faults import EXIT_SECONDS, staging
from vas_tests.in_lab import inside
from vas_tests.leftovers import mentioning

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(1800)]

_MAPS = 5000
_CONTAINERS = 80
_CONF = {
    "vas.containers.reuse": "on",
    # More at a time only get into each other's way.
    "mapreduce.job.running.map.limit": 4,
}


def test_five_thousand_maps_of_one_record(lab: Lab, tmp_path: Path) -> None:
    """Right: every record once, in order; each map ran once; few JVMs for all; nothing stays."""
    lab.call(["mkdir", "-p", str(inside(lab, DIRECTORY))])
    program = Program(lab, build(lab, tmp_path))
    lines = [f"w{i * 7919 % 4001}" for i in range(_MAPS)]
    program.write("lines", a=lines)

    ran = program.run("lines", "short", _CONF, timeout_seconds=1700)

    assert ran.status == 0, ran.said
    assert ran.lines() == digests(lines)
    attempts = ran.attempts()
    assert len(attempts) == _MAPS + 1, "no map ran twice, and one reducer"
    assert {attempt.state for attempt in attempts.values()} == {"SUCCEEDED"}
    assert 0 < len(containers(staging(lab), ran.number)) <= _CONTAINERS
    poll(lambda: mentioning(ran.number), lambda left: not left, EXIT_SECONDS, "its containers")
    assert not [*staging(lab).glob(f"*/.staging/job_{ran.number}/shuffle/*")]
