"""The shuffle's contract on the lab's real YARN, with map output on the nodes' own disks.

The cases are those of test_shuffle_in_lab.py, jobs of any shape: the same bytes as stock's, the
same counters.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vas_lab.lab import Lab
from vas_tests.covering import Row
from vas_tests.jbs_contract import assert_alike, compare, contract_lab, here
from vas_tests.shuffle_cases import PROBE, PROBE_VALUES, PROBES, case_name, properties
from vas_tests.shuffled import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]


@pytest.fixture(scope="module")
def node_lab() -> Iterator[Lab]:
    with contract_lab("jbs-contract") as started:
        yield started


@pytest.mark.parametrize("row", [here(row) for row in PROBES], ids=case_name)
def test_a_job_of_any_shape(node_lab: Lab, row: Row) -> None:
    assert_alike(row, *compare(node_lab, PROBE, properties(row, PROBE_VALUES)))
