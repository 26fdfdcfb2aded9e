"""The plan of cores finds CPUs for as many I/O threads as a guest of the map has."""

from __future__ import annotations

from vas_affinity.guest_plan import GuestRequest
from vas_guest.settings import IOTHREADS


def test_the_plan_and_the_domain_have_the_same_number_of_iothreads() -> None:
    assert GuestRequest(vcpus=1).iothreads == IOTHREADS
