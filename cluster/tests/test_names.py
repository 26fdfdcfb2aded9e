"""A host or guest by its name, with its domain or without."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_cluster import Cluster, parse_cluster

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(**renamed: str) -> Cluster:
    """Four storage servers, with their domain; some renamed."""
    text = (EXAMPLES / "four-oss.yaml").read_text()
    for old, new in renamed.items():
        text = text.replace(f"{old}.hpc.example", new)
    return parse_cluster(text, "four-oss")


@pytest.mark.parametrize("called", ["vas01", "vas01.hpc.example"])
def test_a_guest_is_found_by_its_machines_name(called: str) -> None:
    assert example().name_of(called) == "vas01.hpc.example"


@pytest.mark.parametrize("called", ["oss01", "oss01.hpc.example"])
def test_the_map_may_leave_the_domain_out(called: str) -> None:
    assert example(oss01="oss01").name_of(called) == "oss01"


def test_of_two_that_differ_in_their_domain_none_is_guessed() -> None:
    cluster = example(vas02="vas01.other.example")
    assert cluster.name_of("vas01") == "vas01"
    assert cluster.name_of("vas01.other.example") == "vas01.other.example"


@pytest.mark.parametrize("called", ["vas09", "vas01.elsewhere.example", ""])
def test_who_is_not_in_the_map_keeps_its_name(called: str) -> None:
    assert example().name_of(called) == called
