"""Gives tests the MPIs that the library runs on."""

from __future__ import annotations

import platform

import pytest

from vas_a2av.building import MPIS, MpiKind, is_installed
from vas_a2av.wheels import NAMES, mpi_of_wheel


def installed(name: str) -> MpiKind:
    kind = MPIS[name]
    if not is_installed(kind):
        pytest.skip(f"{kind.name} is not installed: apt-get install {kind.package}")
    return kind


@pytest.fixture(params=sorted(MPIS))
def mpi(request: pytest.FixtureRequest) -> MpiKind:
    """Returns each MPI of this machine in turn."""
    return installed(request.param)


@pytest.fixture(params=[*sorted(MPIS), *NAMES])
def any_mpi(request: pytest.FixtureRequest) -> MpiKind:
    """Returns each MPI of this machine, and each of PyPI, in turn."""
    if request.param in MPIS:
        return installed(request.param)
    if platform.machine() != "x86_64":
        pytest.skip("PyPI's MPIs are recorded for x86-64 alone")
    return mpi_of_wheel(request.param)
