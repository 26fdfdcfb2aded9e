"""The units of a storage server."""

from __future__ import annotations

from pathlib import Path

import pytest

UNITS = sorted((Path(__file__).parents[1] / "systemd").glob("*.service"))
# Targets that a provider has to pull in (systemd.special(7), "Special Passive System Units").
PASSIVE = {"network-pre.target", "time-set.target", "time-sync.target", "nss-lookup.target"}


def words(unit: Path, key: str) -> set[str]:
    lines = (line.partition("=") for line in unit.read_text().splitlines())
    return {word for name, _, value in lines if name == key for word in value.split()}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_passive_target_that_it_is_before_is_wanted(unit: Path) -> None:
    assert words(unit, "Before") & PASSIVE <= words(unit, "Wants")


def test_virtual_functions_come_before_the_network() -> None:
    (unit,) = [unit for unit in UNITS if unit.name == "vas-vfs.service"]
    assert "network-pre.target" in words(unit, "Before")
