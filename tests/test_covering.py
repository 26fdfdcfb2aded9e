"""The tables of the shuffle's test cases hold every pair of values, and nothing besides."""

from __future__ import annotations

from vas_tests.covering import rows, uncovered
from vas_tests.shuffle_cases import EXAMPLES, PROBE_VALUES, PROBES, PROGRAM_VALUES


def test_a_table_is_read_and_its_gaps_found() -> None:
    table = rows("""
        size  colour
        big   red
        small blue
    """)
    values = {"size": ["big", "small"], "colour": ["red", "blue"]}
    assert table[1] == {"size": "small", "colour": "blue"}
    assert uncovered(table, values) == {
        (("size", "big"), ("colour", "blue")),
        (("size", "small"), ("colour", "red")),
    }


def test_every_pair_of_the_shuffles_cases_has_a_row() -> None:
    probes = {column: list(values) for column, values in PROBE_VALUES.items()}
    examples = {column: list(values) for column, values in PROGRAM_VALUES.items()}
    assert uncovered(PROBES, probes) == set()
    assert uncovered(EXAMPLES, examples) == set()
