"""CPU lists and masks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist, parse_cpumask
from vas_core.errors import BadInput

CPUS = st.sets(st.integers(0, 1023))


@given(CPUS)
def test_what_is_written_reads_the_same(cpus: set[int]) -> None:
    assert set(parse_cpulist(format_cpulist(cpus))) == cpus


@given(CPUS)
def test_a_list_has_as_many_parts_as_runs(cpus: set[int]) -> None:
    runs = sum(cpu - 1 not in cpus for cpu in cpus)
    assert len([part for part in format_cpulist(cpus).split(",") if part]) == runs


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ()),
        ("0", (0,)),
        ("0-3,8\n", (0, 1, 2, 3, 8)),
        ("0-7:2/4", (0, 1, 4, 5)),
        ("3, 1", (1, 3)),
    ],
)
def test_lists_of_the_kernel(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpulist(text) == cpus


@pytest.mark.parametrize("text", ["a", "3-1", "-1", "1-", "0-1:3/2", "0-1:0/0", "99999999", "²"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_cpulist(text)


def test_masks() -> None:
    assert parse_cpumask("00000000,000000ff") == tuple(range(8))
    assert parse_cpumask("1,00000000") == (32,)
    with pytest.raises(BadInput):
        parse_cpumask("0xyz")
