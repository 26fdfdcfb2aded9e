"""The commands `vas a2av`, without an MPI and with SimGrid's."""

from __future__ import annotations

import json

import pytest

from vas_a2av import building
from vas_a2av.building import MPICH, SIMULATED, is_installed
from vas_a2av.simulation import SimulatedCase, simulate
from vas_core.cli import run_command
from vas_core.errors import VasError


@pytest.mark.machine
def test_without_an_mpi_the_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(building.shutil, "which", lambda _: None)
    assert run_command(["a2av", "build"]) == 77
    assert "apt-get install libmpich-dev mpich" in capsys.readouterr().err
    assert run_command(["a2av", "verify", "--mpi", "mpich"]) == 77
    assert f"apt-get install {MPICH.package}" in capsys.readouterr().err
    assert run_command(["a2av", "bench"]) == 77
    assert "apt-get install libsimgrid-dev" in capsys.readouterr().err


def test_more_ranks_than_the_platform_has_are_refused() -> None:
    case = SimulatedCase(ranks=5000, size=8, distribution="equal", calls=1, seed=1)
    with pytest.raises(VasError, match="5000 ranks on a platform of 4096 nodes"):
        simulate(case, "sloav2", 2)


@pytest.mark.slow
def test_sloav2_needs_half_the_messages_of_sloav(capsys: pytest.CaptureFixture[str]) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    words = ["a2av", "bench", "--ranks", "32", "--distribution", "equal", "--json"]
    assert run_command(words) == 0
    first = capsys.readouterr().out
    costs = {cost["algorithm"]: cost for cost in json.loads(first)["costs"]}
    assert [costs[name]["messages"] for name in ("linear", "sloav", "two-phase", "sloav2")] == [
        *(31, 10, 15, 5)
    ]
    order = ("sloav2", "sloav", "two-phase", "linear")
    assert sorted(order, key=lambda name: costs[name]["seconds"]) == list(order)
    # Simulated time does not depend on this machine.
    assert run_command(words) == 0
    assert capsys.readouterr().out == first
