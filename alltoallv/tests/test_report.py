"""What VAS_A2AV_REPORT prints: each algorithm of a communicator, and why calls were passed on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vas_a2av.building import SOURCES, MpiKind, build_for
from vas_a2av.launching import launch
from vas_core.process import run

pytestmark = pytest.mark.slow

_CALLS = 8  # a trial
_WHY = "it was predicted or measured to be faster, or timed for comparison"
# Two nodes of two ranks, where messages are dear, or cost nothing but bytes.
_DEAR = "overhead_ns = 9000\nlatency_ns = 9000\nbyte_ps = 1\ncopy_byte_ps = 1\nlocal_ns = 1\n"
_FREE = "overhead_ns = 0\nlatency_ns = 1000\nbyte_ps = 1\ncopy_byte_ps = 100\nlocal_ns = 400\n"


def _reported(mpi: MpiKind, directory: Path, figures: str, form: str) -> list[str]:
    """Returns the lines about some calls, of which the library learns what they move."""
    built, program, network = build_for(mpi), directory / "program", directory / "network.conf"
    words = [f"-I{SOURCES / 'include'}", f"-L{built}", "-lvas-a2av", f"-Wl,-rpath,{built}"]
    run([mpi.compiler, SOURCES / "tests" / "installed.c", *words, "-o", program])
    network.write_text(figures)
    environment = {"VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_REPORT": form}
    environment["VAS_A2AV_NETWORK"] = str(network)
    return launch(mpi, 4, [program, str(_CALLS)], environment=environment).stderr.splitlines()


def test_the_report_has_the_calls_of_both_sides_of_a_trial(mpi: MpiKind, tmp_path: Path) -> None:
    said = [line for line in _reported(mpi, tmp_path, _DEAR, "1") if line.startswith("vas-a2av: ")]
    assert re.fullmatch(
        r"vas-a2av: 4 ranks: 4 calls by sloav2x \(radix 2, [12] leaders\) in "
        r"\d+\.\d{6} s; rank 0 sent \d+ messages, \d+ B of blocks, \d+ B of lengths, held at most "
        r"\d+ B",
        said[0],
    )
    assert said[1:] == [
        f"vas-a2av: 4 ranks: 4 calls passed to MPI: {_WHY}",
        "vas-a2av: 4 ranks: 2 nodes, with shared memory",
    ]


def test_the_report_says_why_calls_were_passed_on(mpi: MpiKind, tmp_path: Path) -> None:
    said = [line for line in _reported(mpi, tmp_path, _FREE, "1") if line.startswith("vas-a2av: ")]
    assert said[0] == f"vas-a2av: 4 ranks: {_CALLS} calls passed to MPI: {_WHY}"


def test_the_report_is_json_where_it_is_asked_for(mpi: MpiKind, tmp_path: Path) -> None:
    dear = [line for line in _reported(mpi, tmp_path, _DEAR, "json") if "vas_a2av" in line]
    (said,) = (json.loads(line)["vas_a2av"] for line in dear)
    assert (said["ranks"], said["nodes"]) == (4, 2)
    assert [(each["algorithm"], each["calls"]) for each in said["served"]] == [("sloav2x", 4)]
    assert said["passed"] == [{"calls": 4, "why": _WHY}]
    free = [line for line in _reported(mpi, tmp_path, _FREE, "json") if "vas_a2av" in line]
    (said,) = (json.loads(line)["vas_a2av"] for line in free)
    assert said["served"] == []
    assert said["passed"] == [{"calls": _CALLS, "why": _WHY}]


def test_a_report_of_no_kind_switches_off(mpi: MpiKind, tmp_path: Path) -> None:
    said = "\n".join(_reported(mpi, tmp_path, _DEAR, "2"))
    assert "VAS_A2AV_REPORT=2: must be 0, 1 or json; MPI's own is used" in said
