"""NodeManagers sum what reduce tasks read, and keep the sum after the tasks have ended."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.in_lab import inside
from vas_yarn.profiles import SHUFFLE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

# Metric of a node -> the job's counter of the same thing.
_AS_COUNTED = {
    "SegmentsOpened": "MOFS_OPENED",
    "BytesRead": "MOF_BYTES_READ",
    "ValidationFailures": "VALIDATION_FAILURES",
}
_BEAN = "jmx?qry=Hadoop:service=NodeManager,name=VasShuffle"
_ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"


def sums(lab: Lab) -> Counter[str]:
    """The numbers of all NodeManagers together, as JMX has them."""
    found: Counter[str] = Counter()
    for guest in lab.spec.cluster.guests():
        url = f"http://{guest.name}:8042/{_BEAN}"
        (bean,) = json.loads(lab.call(["python3", "-c", _ASK, url], node=guest.name).stdout)[
            "beans"
        ]
        found.update({name: value for name, value in bean.items() if isinstance(value, int)})
    return found


def test_a_node_has_what_its_tasks_read_when_they_are_gone(lab: Lab) -> None:
    lab.call(["rm", "-rf", str(inside(lab, "metrics"))])
    lab.run_job(["teragen", "200000", "/metrics/in"], {"mapreduce.job.maps": "4"})
    before = sums(lab)
    # A second attempt reads too, but the job's counters leave out the one that is killed.
    once = {"mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false"}
    job = lab.run_job(
        ["terasort", "/metrics/in", "/metrics/out"],
        SHUFFLE | once | {"mapreduce.job.reduces": "3"},
    )
    assert job.counter("MOF_BYTES_READ") > 0

    def growth() -> dict[str, int]:
        now = sums(lab)
        return {counter: now[name] - before[name] for name, counter in _AS_COUNTED.items()}

    counted = {counter: job.counter(counter) for counter in _AS_COUNTED.values()}
    poll(growth, lambda found: found == counted, 20, "the nodes' sums to be the job's counters")
    now = sums(lab)
    assert now["ReadRequests"] - before["ReadRequests"] >= counted["MOFS_OPENED"]
    assert now["MetadataRequests"] > before["MetadataRequests"]
    assert (now["OpenSegments"], now["ReduceTasks"]) == (0, 0)
