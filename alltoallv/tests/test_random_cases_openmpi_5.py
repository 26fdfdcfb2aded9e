"""Ten thousand random cases give on Open MPI 5 what it gives itself."""

from __future__ import annotations

import pytest

from vas_a2av.building import MpiKind
from vas_a2av.verify_command import verify_on

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("any_mpi", ["openmpi-5"], indirect=True)
def test_ten_thousand_random_cases(any_mpi: MpiKind) -> None:
    assert verify_on(any_mpi, ranks=33, cases=10_000, seed=24).endswith(" 0 different")
