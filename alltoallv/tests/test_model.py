"""The model's arithmetic against the C core's counts, and against simulated time."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_a2av.building import SIMULATED, SOURCES, is_installed
from vas_a2av.model import Network, PredictedCall, candidates, chosen, predict
from vas_a2av.network_file import network_path, parse_network, write_network
from vas_a2av.rounds import positions
from vas_a2av.simulation import PLATFORMS, SimulatedCase, simulate
from vas_a2av.tune_command import alike
from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.process import run

_SIMULATED_CASES = [
    *(("linear", 2), ("sloav", 2), ("two-phase", 2)),
    *(("tuna", 4), ("sloav2", 2), ("sloav2", 8)),
]


@given(ranks=st.integers(2, 300), radix=st.integers(2, 40))
def test_every_distance_travels_once_for_each_digit(ranks: int, radix: int) -> None:
    expected = 0
    for distance in range(1, ranks):
        left = distance
        while left:
            left, digit = divmod(left, radix)
            expected += digit != 0
    assert sum(sum(position.blocks) for position in positions(ranks, radix)) == expected


def test_1024_ranks_have_the_messages_of_the_page() -> None:
    names = ("linear", "sloav", "two-phase", "sloav2")
    found = {name: predict(name, 2, PredictedCall(1024, 1, 8)) for name in names}
    assert [found[name].messages for name in found] == [1023, 20, 30, 10]
    assert found["sloav2"].sent_bytes == 10 + 10 * 512 * 8


def test_blocks_above_the_limit_go_direct() -> None:
    found = predict("sloav2", 2, PredictedCall(64, 1, 2048))
    assert (found.messages, found.sent_bytes) == (63 + 6, 63 * 2048 + 6)


def test_explain_puts_the_cheapest_first_and_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run_command(["a2av", "explain", "--ranks", "1024", "--size", "8"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("sloav2")
    assert said[-2] == "figures: the simulated torus's figures"
    assert said[-1].startswith("chosen: sloav2, radix 4: 15 messages instead of 1023; start-ups")
    assert run_command(["a2av", "explain", "--ranks", "64", "--size", "1M"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("linear")
    assert said[-1].startswith("chosen: MPI's own function: sloav2 is predicted to need")
    with_nodes = ["a2av", "explain", "--ranks", "512", "--per-node", "16", "--size", "16"]
    assert run_command(with_nodes) == 0
    assert "chosen: sloav2x, radix 32, 8 leaders a node: 31 messages" in capsys.readouterr().out


def test_explain_says_which_communicators_are_too_small(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["a2av", "explain", "--ranks", "6", "--size", "8"]
    assert run_command(words) == 0
    assert "fewer ranks than VAS_A2AV_MIN_RANKS (8)" in capsys.readouterr().out
    monkeypatch.setenv("VAS_A2AV_MIN_RANKS", "6")
    assert run_command(words) == 0
    assert "chosen: sloav2" in capsys.readouterr().out


def test_explain_uses_the_figures_that_were_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = network_path("mpich")
    path.parent.mkdir()
    write_network(path, _FIGURES, "by hand")
    assert run_command(["a2av", "explain", "--ranks", "8", "--size", "8", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["figures"], said["comment"]) == (str(path), "by hand")
    linear = next(each for each in said["candidates"] if each["algorithm"] == "linear")
    assert linear["startup_seconds"] == pytest.approx(7 * 2 * 30e-6 + 60e-6)
    path.write_text("overhead_ns = 3\nlatency = 4\n")
    assert run_command(["a2av", "explain", "--ranks", "8", "--size", "8"]) != 0
    assert "line 2 is not a figure: 'latency = 4'" in capsys.readouterr().err
    path.write_text("overhead_ns = 1.2.3\n")
    assert run_command(["a2av", "explain", "--ranks", "8", "--size", "8"]) == 2
    assert "line 1 is not a figure: 'overhead_ns = 1.2.3'" in capsys.readouterr().err


_FIGURES = """overhead_ns = 30000
latency_ns = 60000
byte_ps = 8000
copy_byte_ps = 100
local_ns = 400
"""


def test_figures_are_read_with_their_units() -> None:
    network = parse_network(_FIGURES, where="here")
    assert network.overhead_seconds == pytest.approx(30e-6)
    assert network.bytes_per_second == pytest.approx(125e6)
    with pytest.raises(VasError, match="local_ns is missing"):
        parse_network(_FIGURES.replace("local_ns = 400\n", ""), where="here")
    # The C library refuses as large ones too.
    for wrong in ("1000000000001", "9" * 400):
        with pytest.raises(VasError, match="line 2 is not a figure"):
            parse_network(_FIGURES.replace("60000", wrong), where="here")


def test_measurements_beside_other_work_are_not_alike() -> None:
    network = Network()
    assert alike(network, replace(network, local_seconds=0.29e-6))
    for other in (
        replace(network, copy_bytes_per_second=30e9),
        replace(network, latency_seconds=5.7e-6),
        replace(network, bytes_per_second=inf),
        replace(network, local_seconds=0.0),
    ):
        assert not alike(network, other)
        assert not alike(other, network)


def test_explain_says_where_the_figures_are_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures"
    write_network(figures, _FIGURES, "vas a2av tune, mpich, two ranks; disturbed")
    words = ["a2av", "explain", "--ranks", "64", "--size", "8", "--network", str(figures)]
    assert run_command(words) == 0
    assert f"figures: {figures} (vas a2av tune, mpich, two ranks; disturbed)" in (
        capsys.readouterr().out
    )
    figures.write_text("overhead_ns = many\n")
    assert run_command(words) == 2
    assert capsys.readouterr().err.startswith(f"vas: {figures}: line 1 is not a figure")


_SHAPES = [(8, 1, 8), (64, 1, 8), (1024, 16, 8), (1000, 24, 100), (4096, 64, 700), (33, 8, 1)]


@pytest.mark.unhurried
@pytest.mark.machine
def test_the_library_chooses_by_the_same_model(tmp_path: Path) -> None:
    directory = tmp_path / "built"
    program = directory / "predict"
    run(["make", "-s", "-f", SOURCES / "Makefile", f"OUT={directory}", program])
    network = Network()
    for ranks, per_node, size in _SHAPES:
        call = PredictedCall(ranks, per_node, size)
        load: list[str | Path] = [program, str(ranks), str(per_node), str(ranks - 1)]
        load += [str((ranks - 1) * size), "0"]
        found = candidates(call)
        for each in found:
            if each.algorithm in ("linear", "sloav2", "sloav2x"):
                words = [each.algorithm, str(each.radix), str(each.leaders)]
                said = float(run([*load, *words]).stdout)
                assert said == pytest.approx(each.seconds(network), rel=1e-9), each
        best = chosen(found, network)
        said_choice = run(load).stdout.split()
        assert said_choice[0] == (best.algorithm if best else "mpi")
        if best:
            assert int(said_choice[1]) == best.radix
            if best.algorithm == "sloav2x":
                assert int(said_choice[2]) == best.leaders


@pytest.mark.slow
@pytest.mark.parametrize(("name", "radix"), _SIMULATED_CASES)
def test_simulated_time_is_near_the_models(name: str, radix: int) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    case = SimulatedCase(ranks=64, size=8, distribution="equal", calls=4, seed=1)
    cost, model = simulate(case, name, radix), predict(name, radix, PredictedCall(64, 1, 8))
    # The model has no cost of a block by itself, which the simulated machine has.
    blocks = sum(sum(position.blocks) for position in positions(64, radix))
    copies = 0 if name == "linear" else 2 * blocks * PLATFORMS["torus"].block_seconds
    assert model.seconds(Network()) + copies == pytest.approx(cost.seconds, rel=0.25)
