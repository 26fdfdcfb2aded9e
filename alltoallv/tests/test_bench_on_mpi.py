"""The command `vas a2av bench --mpi`: real calls, and options that have no meaning with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_a2av.building import MpiKind
from vas_core.cli import run_command

_SVG = "{http://www.w3.org/2000/svg}"
_RANKS = 4


@pytest.mark.slow
def test_bench_measures_each_algorithm_in_rounds_on_an_mpi(
    mpi: MpiKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "times.svg"
    words = ["a2av", "bench", "--mpi", mpi.name, "--ranks", str(_RANKS), "--node-ranks", "2"]
    words += ["--rounds", "3", "--calls", "2", "--distribution", "equal", "--json", "--svg"]
    words += [str(path), "--size", "8", "--size", "64", "--radix", "2", "--radix", "4"]
    for name in ("mpi", "linear", "sloav", "sloav2", "sloav2x"):
        words += ["--algorithm", name]
    assert run_command(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["simulated"], said["mpi"], said["ranks"]) == (False, mpi.name, _RANKS)
    assert (said["machines"], said["crowded"]) == (1, (os.cpu_count() or 1) < _RANKS)
    found = {(c["algorithm"], c["radix"], c["size"]): c for c in said["costs"]}
    assert len(found) == len(said["costs"]) == 2 * 7
    assert all(len(cost["rounds"]) == 3 and cost["seconds"] > 0 for cost in said["costs"])
    assert all(cost["cpu_seconds"] > 0 for cost in said["costs"])
    messages = {(name, radix): found[name, radix, 8]["messages"] for name, radix, _ in found}
    # Of three others: one message each, two rounds of two messages, or of one; a leader's to the
    # other node is one, and of the four ranks' two nodes the first is of rank 0.
    assert messages["linear", 2] == messages["sloav2", 4] == 3
    assert (messages["sloav", 2], messages["sloav2", 2]) == (4, 2)
    assert messages["sloav2x", 2] <= 1
    root = ElementTree.fromstring(path.read_text())
    assert root.findtext(f"{_SVG}title") == f"Real: time of a call on {_RANKS} ranks"
    keys = [group.get("data-key") for group in root.iter(f"{_SVG}g") if "data-key" in group.attrib]
    assert keys[3:5] == ["sloav2, radix 2", "sloav2, radix 4"]


@pytest.mark.slow
def test_a_table_says_that_ranks_on_too_few_cores_measure_no_network(
    mpi: MpiKind, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = (os.cpu_count() or 1) + 1
    words = ["a2av", "bench", "--mpi", mpi.name, "--launcher"]
    rooted = " --allow-run-as-root --oversubscribe" if mpi.is_open_mpi else ""
    words += [f"{mpi.launcher}{rooted} -n {ranks}", "--rounds", "1", "--calls", "1"]
    assert run_command([*words, "--algorithm", "linear"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        f"real: {mpi.name}, {ranks} ranks on one machine, more than it has cores: these times say "
        "nothing about a network\n"
    )
    header, row = (line.split() for line in said.out.splitlines())
    assert header[:2] == ["ALGORITHM", "RADIX"]
    assert "CPU" in header
    assert row[0] == "linear"


@pytest.mark.machine
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--mpi", "mpich", "--platform", "torus"], "--platform has no meaning with --mpi"),
        (["--rounds", "3"], "--rounds has no meaning with a simulation; add --mpi"),
        (["--launcher", "true"], "--launcher has no meaning with a simulation; add --mpi"),
        (
            ["--mpi", "mpich", "--launcher", "true", "--ranks", "4"],
            "--ranks has no meaning with --launcher; let the launcher start as many",
        ),
        (
            ["--mpi", "mpich", "--ranks", "4", "--size", "512M"],
            "--size 536870912: on 4 ranks a block has at most 536870911 bytes; use a smaller size",
        ),
    ],
)
def test_options_without_a_meaning_are_refused(
    words: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["a2av", "bench", *words]) == 2
    said = capsys.readouterr().err
    assert error in said
    assert len(said.splitlines()) == 1
