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

_CALLS = 10
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


def test_the_report_has_a_line_for_each_algorithm(mpi: MpiKind, tmp_path: Path) -> None:
    said = [line for line in _reported(mpi, tmp_path, _DEAR, "1") if line.startswith("vas-a2av: ")]
    assert len(said) == 3
    assert said[0].startswith("vas-a2av: 4 ranks: 1 calls by sloav2 (radix 2) in ")
    assert re.fullmatch(
        rf"vas-a2av: 4 ranks: {_CALLS - 1} calls by sloav2x \(radix 2, [12] leaders\) in "
        r"\d+\.\d{6} s; rank 0 sent \d+ messages, \d+ B of blocks, \d+ B of lengths, held at most "
        r"\d+ B",
        said[1],
    )
    assert said[2] == "vas-a2av: 4 ranks: 2 nodes, with shared memory"


def test_the_report_says_why_calls_were_passed_on(mpi: MpiKind, tmp_path: Path) -> None:
    said = [line for line in _reported(mpi, tmp_path, _FREE, "1") if line.startswith("vas-a2av: ")]
    assert said[0].startswith("vas-a2av: 4 ranks: 1 calls by sloav2 (radix 2) in ")
    assert said[1] == (
        f"vas-a2av: 4 ranks: {_CALLS - 1} calls passed to MPI: nothing was predicted to need less "
        "than 80 % of its time"
    )


def test_the_report_is_json_where_it_is_asked_for(mpi: MpiKind, tmp_path: Path) -> None:
    dear = [line for line in _reported(mpi, tmp_path, _DEAR, "json") if "vas_a2av" in line]
    (said,) = (json.loads(line)["vas_a2av"] for line in dear)
    assert (said["ranks"], said["nodes"], said["passed"]) == (4, 2, [])
    assert [(each["algorithm"], each["calls"]) for each in said["served"]] == [
        ("sloav2", 1),
        ("sloav2x", _CALLS - 1),
    ]
    assert said["served"][0]["messages"] == 2
    free = [line for line in _reported(mpi, tmp_path, _FREE, "json") if "vas_a2av" in line]
    (said,) = (json.loads(line)["vas_a2av"] for line in free)
    assert [each["calls"] for each in said["served"]] == [1]
    assert [each["calls"] for each in said["passed"]] == [_CALLS - 1]


def test_a_report_of_no_kind_switches_off(mpi: MpiKind, tmp_path: Path) -> None:
    said = "\n".join(_reported(mpi, tmp_path, _DEAR, "2"))
    assert "VAS_A2AV_REPORT=2: must be 0, 1 or json; MPI's own is used" in said
