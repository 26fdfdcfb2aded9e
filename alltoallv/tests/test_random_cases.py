"""Ten thousand random cases give on each MPI what that MPI gives."""

from __future__ import annotations

import pytest

from vas_a2av.building import MpiKind
from vas_a2av.verify_command import verify_on

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(3600)]


def test_ten_thousand_random_cases_give_what_each_mpi_gives(any_mpi: MpiKind) -> None:
    assert verify_on(any_mpi, ranks=33, cases=10_000, seed=24).endswith(" 0 different")
