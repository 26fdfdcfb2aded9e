"""The units: of a storage server, and in which order all of them are started."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY

UNITS = sorted((REPOSITORY / "guests/systemd").glob("*.service"))
ALL = sorted(
    unit for unit in REPOSITORY.glob("*/systemd/*") if unit.suffix in (".service", ".timer")
)
# Targets that a provider has to pull in (systemd.special(7), "Special Passive System Units").
PASSIVE = {"network-pre.target", "time-set.target", "time-sync.target", "nss-lookup.target"}

# What the start of a machine reaches before sysinit.target, or, where cloud-init is, has to: its
# cloud-init.service is after the network and before sysinit.target.
EARLY = {"local-fs-pre.target", "local-fs.target", "network-pre.target", "network.target"}
EARLY |= {"network-online.target", "cloud-init.service", "sysinit.target", "basic.target"}
EARLY |= {"networking.service", "systemd-networkd.service", "NetworkManager.service"}


def words(unit: Path, key: str) -> set[str]:
    lines = (line.partition("=") for line in unit.read_text().splitlines())
    return {word for name, _, value in lines if name == key for word in value.split()}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_passive_target_that_it_is_before_is_wanted(unit: Path) -> None:
    assert words(unit, "Before") & PASSIVE <= words(unit, "Wants")


def test_virtual_functions_come_before_the_network() -> None:
    (unit,) = [unit for unit in UNITS if unit.name == "vas-vfs.service"]
    assert "network-pre.target" in words(unit, "Before")


@pytest.mark.parametrize("unit", ALL, ids=lambda unit: unit.name)
def test_what_the_network_waits_for_does_not_wait_for_the_network(unit: Path) -> None:
    """By its default dependencies a service is after sysinit.target (systemd.service(5))."""
    if words(unit, "DefaultDependencies") != {"no"}:
        assert not words(unit, "Before") & EARLY
        return
    assert not words(unit, "After") & (EARLY - {"local-fs.target"})
    assert "shutdown.target" in words(unit, "Conflicts") & words(unit, "Before")
