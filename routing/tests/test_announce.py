"""Announcing an address by an interface that goes away, or is renamed, meanwhile."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.command import mac_of

ADDRESS = ip_address("10.77.0.21")


@pytest.mark.machine
def test_H9_an_interface_that_went_away_ends_no_daemon() -> None:
    sent: list[str] = []
    announcer = Announcer(lambda device, frame: sent.append(device), mac_of)
    announcer.announce(ADDRESS, "gone9", 0)
    announcer.run(10)
    assert sent == [] and not announcer.is_announcing(ADDRESS)


def test_H9_what_is_planned_goes_by_the_new_name() -> None:
    sent: list[str] = []
    announcer = Announcer(lambda device, frame: sent.append(device), lambda device: bytes(6))
    announcer.announce(ADDRESS, "vf0", 0)
    announcer.run(0)
    announcer.rename("vf0", "leg9")
    announcer.run(10)
    assert set(sent) == {"vf0", "leg9"} and sent[-1] == "leg9"
