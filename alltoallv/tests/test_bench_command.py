"""The command `vas a2av bench`: its plan, its plot, and ranks that share memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_a2av.bench_plan import compute, plan
from vas_a2av.building import SIMULATED, build_for, is_installed
from vas_a2av.plot import TimeCurve, draw_times
from vas_a2av.simulation import SimulatedCase, simulate
from vas_a2av.simulation import run_simulated as run_program
from vas_core.cli import run_command

_SVG = "{http://www.w3.org/2000/svg}"
_CASE = SimulatedCase(16384, 8, "uniform", calls=1, seed=1)


def test_linear_is_computed_and_mpis_own_left_out_on_many_ranks() -> None:
    calls = {call.algorithm: call for call in plan([_CASE], ("linear", "mpi", "sloav2"), (4,))}
    assert calls["linear"].computed
    assert compute(calls["linear"]).seconds == pytest.approx(16383 * 1.4e-6, rel=0.01)
    assert "hours on 16384 ranks" in calls["mpi"].left_out
    assert (calls["sloav2"].left_out, calls["sloav2"].name) == ("", "sloav2, radix 4")
    few = plan([replace(_CASE, ranks=64)], ("linear", "mpi"), (2,))
    assert [(call.computed, call.left_out) for call in few] == [(False, ""), (False, "")]


def test_what_needs_too_much_memory_is_left_out() -> None:
    case = replace(_CASE, ranks=256, size=1 << 20)
    calls = {call.algorithm: call for call in plan([case], ("sloav", "sloav2", "linear"), (2,))}
    assert calls["sloav"].left_out == "relayed blocks of 1 MiB would need 128 GiB of memory"
    assert [calls[name].left_out for name in ("sloav2", "linear")] == ["", ""]
    leaders = plan([replace(_CASE, node_ranks=16), _CASE], ("sloav2x",), (2,))
    assert "arrays of its own" in leaders[0].left_out
    assert "without nodes of several ranks" in leaders[1].left_out


def test_a_plot_has_a_curve_for_each_name_and_axes_with_units() -> None:
    names = [f"algorithm {number}" for number in range(13)]
    points = ((1, 2e-5), (1024, 3e-4), (1 << 20, 0.5))
    curves = [TimeCurve(name, points) for name in names]
    text = draw_times("Simulated: times", "torus", curves).document("Simulated: times")
    root = ElementTree.fromstring(text)
    title = root.find(f"{_SVG}title")
    assert title is not None
    assert title.text == "Simulated: times"
    drawn = {group.get("data-key"): group for group in root.iter(f"{_SVG}g") if "data-key" in
             group.attrib}  # fmt: skip
    assert list(drawn) == names
    for group in drawn.values():
        assert group.find(f"{_SVG}path") is not None
        assert len(list(group.iter(f"{_SVG}circle"))) == 3
    looks = {(g.find(f"{_SVG}path").get("stroke"), g.find(f"{_SVG}path").get("stroke-dasharray"))
             for g in drawn.values()}  # type: ignore[union-attr]  # fmt: skip
    assert len(looks) == 13
    texts = [each.text for each in root.iter(f"{_SVG}text")]
    assert {"largest block, bytes (log scale)", "time of a call, us (log scale)"} <= set(texts)
    assert {"1B", "1KiB", "1MiB", "100", "1,000"} <= set(texts)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--svg", "{}/none/p.svg"], "cannot be written: No such file or directory; name a file"),
        (["--svg", "{}"], "is not a name of an SVG file; use .svg"),
        (["--svg", "{}/p.png"], "is not a name of an SVG file; use .svg"),
        (["--svg", "{}/d.svg"], "cannot be written: Is a directory; name a file"),
        (["--svg", "{}/p.svg", "--size", "8"], "a plot needs two sizes or more"),
        (["--svg", "{}/p.svg", "--size", "0", "--size", "8"], "all above zero; repeat --size"),
    ],
)
def test_a_plot_that_cannot_be_written_is_refused_first(
    words: list[str], error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.svg").mkdir()
    assert run_command(["a2av", "bench", *(word.format(tmp_path) for word in words)]) == 2
    said = capsys.readouterr().err
    assert error in said
    assert len(said.splitlines()) == 1


@pytest.mark.slow
def test_bench_draws_what_it_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    path = tmp_path / "times.svg"
    words = ["a2av", "bench", "--ranks", "8", "--calls", "1", "--svg", str(path), "--json"]
    words += ["--size", "1", "--size", "4K", "--algorithm", "linear", "--algorithm", "sloav2"]
    assert run_command([*words, "--radix", "2", "--radix", "4"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["simulated"], said["sizes"], len(said["costs"])) == (True, [1, 4096], 6)
    root = ElementTree.fromstring(path.read_text())
    assert root.findtext(f"{_SVG}title") == "Simulated: time of a call on 8 ranks"
    keys = [group.get("data-key") for group in root.iter(f"{_SVG}g")]
    assert [key for key in keys if key] == ["linear", "sloav2, radix 2", "sloav2, radix 4"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "radix"), [("sloav", 2), ("two-phase", 2), ("tuna", 4), ("sloav2", 2), ("sloav2", 8)]
)
def test_ranks_that_share_memory_take_as_long(name: str, radix: int) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    case = SimulatedCase(ranks=48, size=8, distribution="equal", calls=2, seed=1)
    alone = simulate(case, name, radix)
    assert (build_for(SIMULATED, "many_ranks") / "many_ranks").is_file()
    words = [name, str(radix), "equal", "8", "2", "1"]
    shared = run_program("many_ranks", words, case.ranks, 1, "torus")
    assert shared["seconds"] == pytest.approx(alone.seconds, rel=0.05)
    counted = ("messages", "payload_bytes", "metadata_bytes")
    assert [shared[each] for each in counted] == [getattr(alone, each) for each in counted]
